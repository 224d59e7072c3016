#!/bin/sh
# Set-up on a machine that has Python 3.11+ and nothing else: `sh tools/setup.sh base|serve|dev|bench`.
#
# Makes .venv, installs one hash-pinned lock into it, then this checkout itself. uv does it when it is there and
# works, pip otherwise. No variable of the environment is needed.
set -eu
lock=requirements/$1.txt
venv=.venv

find_python() {
    for name in "${PYTHON:-python3}" python3.13 python3.12 python3.11 python3.14 python; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            command -v "$name"
            return
        fi
    done
    echo "setup: no Python 3.11 or newer on PATH; install one, or name it: make PYTHON=/path/to/python3" >&2
    return 1
}

with_uv() {
    command -v uv >/dev/null 2>&1 || return 1
    # Machines behind a company proxy keep its certificate in the system's store (older uv calls this NATIVE_TLS).
    export UV_SYSTEM_CERTS=true UV_NATIVE_TLS=true UV_NO_PROGRESS=1
    uv pip install --quiet --python "$venv/bin/python" --require-hashes --no-deps --requirement "$lock" &&
        uv pip install --quiet --python "$venv/bin/python" --no-deps --no-build-isolation --editable .
}

with_pip() {
    "$venv/bin/python" -m pip --version >/dev/null 2>&1 || "$venv/bin/python" -m ensurepip >/dev/null
    pip="$venv/bin/python -m pip --disable-pip-version-check install --quiet --no-compile --no-deps"
    # Unquoted on purpose: the command and its flags are words.
    $pip --require-hashes --requirement "$lock" && $pip --no-build-isolation --editable .
}

if ! "$venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
    python=$(find_python)
    rm -rf "$venv"
    echo "setup: making $venv with $("$python" --version)" >&2
    "$python" -m venv "$venv" || uv venv --quiet --python "$python" "$venv"
fi
echo "setup: installing $lock" >&2
with_uv || with_pip

# The larger locks hold the smaller ones: nothing is installed twice.
case $1 in
    bench) touch "$venv/.base" "$venv/.serve" "$venv/.dev" "$venv/.bench" ;;
    dev) touch "$venv/.base" "$venv/.serve" "$venv/.dev" ;;
    serve) touch "$venv/.base" "$venv/.serve" ;;
    *) touch "$venv/.base" ;;
esac
