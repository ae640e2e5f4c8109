"""stream.py: what policies in Python have in common: the cluster, and tables that follow each other."""
import csv


def read_gpus(path):
    gpus = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            gpus[row["gpu_type"]] = gpus.get(row["gpu_type"], 0) + int(row["gpus"])
    return gpus


def tables(stream):
    """The tables of a stream, as lists of lines."""
    lines = []
    for line in stream:
        if line.strip("\r\n"):
            lines.append(line)
        elif lines:
            yield lines
            lines = []
    if lines:
        yield lines
