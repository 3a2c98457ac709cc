"""llama.cpp's HTTP server as the module xllamacpp has it, until SIGTERM or SIGINT.

usage: prebuilt.py MODEL PORT CONTEXT PARALLEL THREADS [CHAT_TEMPLATE]
"""

import signal
import sys

import xllamacpp

model, port, context, parallel, threads, *template = sys.argv[1:]
params = xllamacpp.CommonParams()
params.model.path = model
params.hostnames = ["127.0.0.1"]
params.port = int(port)
params.n_ctx = int(context) * int(parallel)
params.n_parallel = int(parallel)
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(threads)
if template:
    params.chat_template = template[0]
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGINT])  # also in the threads that it starts
server = xllamacpp.Server(params)
print("listening:", server.listening_address, flush=True)
signal.sigwait([signal.SIGTERM, signal.SIGINT])
