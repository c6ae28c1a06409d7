"""The checker: finds files, runs the rules over them, remembers results, reports.

Nothing here prints, imports torch or runs what it reads.
"""
