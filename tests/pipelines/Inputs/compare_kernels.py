"""Compares the kernels of two PTX modules by name and text."""
import re
import sys


def kernels(path):
    text = open(path).read()
    found = re.findall(r"^\.visible \.entry (\w+)(.*?)^}", text, re.S | re.M)
    assert found, path + " holds no kernels"
    return dict(found)


first, second = kernels(sys.argv[1]), kernels(sys.argv[2])
print("kernels with one name and two texts:", sum(first[k] != second[k] for k in first.keys() & second.keys()))
print("kernels of the first program that the second lacks:", len(first.keys() - second.keys()))
