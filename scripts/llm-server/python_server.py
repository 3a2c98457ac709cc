"""The server of llama-cpp-python, with an `echo` that takes seconds: python_server.py OPTIONS OF llama_cpp.server

For every token of an echoed prompt it pairs all log-probabilities of the vocabulary with their ids and sorts the pairs, of
which it lists the first one (`logprobs: 1`). Here that module's `zip` finds the likeliest at once.
"""

import llama_cpp.llama
import numpy
from llama_cpp.server.__main__ import main


def likeliest_first(*items):
    if len(items) != 2 or not isinstance(items[1], range):
        return zip(*items)
    values = numpy.asarray(items[0])
    best = int(values.argmax())
    return [(values[best], best)]


llama_cpp.llama.zip = likeliest_first
main()
