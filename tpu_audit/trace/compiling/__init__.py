"""A phase under Dynamo, on the pretended device: graphs, breaks, and what compiles anew."""
