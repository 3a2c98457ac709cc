"""The server of llama-cpp-python, with an `echo` that takes seconds: python_server.py OPTIONS OF llama_cpp.server

For every token of an echoed prompt it sorts the whole vocabulary, of which it lists the first entries. One is enough for
`logprobs: 1`, so sorting in that module becomes taking the largest.
"""

import llama_cpp.llama
from llama_cpp.server.__main__ import main

llama_cpp.llama.sorted = lambda items, reverse: [max(items)] if reverse else sorted(items)
main()
