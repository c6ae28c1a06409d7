"""Rules on dependencies, containers, clusters and scripts."""
