#!/bin/sh
# Set-up on a machine that has Python 3.11.2+ and nothing else: `sh dev/setup.sh base|serve|dev|bench`.
#
# Makes .venv, installs one hash-pinned lock into it, then this checkout itself. uv does it when it is there and
# works, pip otherwise. No variable of the environment is needed.
set -eu
lock=requirements/$1.txt
venv=.venv

is_supported() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11, 2))' >/dev/null 2>&1
}

find_python() {
    for name in "${PYTHON:-python3}" python3.13 python3.12 python3.11 python3.14 python; do
        if is_supported "$name"; then
            command -v "$name"
            return
        fi
        # A Python that was asked for by name is not replaced by another one.
        [ -z "${PYTHON:-}" ] || break
    done
    echo "setup: ${PYTHON:-nothing on PATH} is no Python 3.11.2 or newer; name one: make PYTHON=/path/to/python3" >&2
    return 1
}

# The oldest SQLite that the tests run with; `make demo` keeps nothing and needs none.
check_sqlite() {
    [ "$lock" != requirements/base.txt ] || return 0
    "$1" -c 'import sqlite3, sys; sys.exit(sqlite3.sqlite_version_info < (3, 40))' >/dev/null 2>&1 && return
    echo "setup: $1 has no SQLite 3.40 or newer; name another Python: make PYTHON=/path/to/python3" >&2
    return 1
}

make_venv() {
    # Debian's Python has no ensurepip without the package python3-venv: then others put packages in.
    "$1" -m venv "$venv" >/dev/null 2>&1 || { rm -rf "$venv" && "$1" -m venv --without-pip "$venv"; }
}

with_uv() {
    command -v uv >/dev/null 2>&1 || return 1
    # Machines behind a company proxy keep its certificate in the system's store (older uv calls this NATIVE_TLS).
    export UV_SYSTEM_CERTS=true UV_NATIVE_TLS=true UV_NO_PROGRESS=1
    uv pip install --quiet --python "$venv/bin/python" --require-hashes --no-deps --requirement "$lock" &&
        uv pip install --quiet --python "$venv/bin/python" --no-deps --no-build-isolation --editable .
}

with_pip() {
    python=$venv/bin/python
    if "$python" -m pip --version >/dev/null 2>&1 || "$python" -m ensurepip >/dev/null 2>&1; then
        pip="$python -m pip"
    elif outer=$(find_python) && "$outer" -m pip --version >/dev/null 2>&1; then
        pip="$outer -m pip --python $python"
    else
        echo "setup: no pip, ensurepip or uv here; install one (Debian: apt install python3-venv)" >&2
        return 1
    fi
    # Unquoted on purpose: the command and its flags are words.
    pip="$pip --disable-pip-version-check install --quiet --no-compile --no-deps"
    $pip --require-hashes --requirement "$lock" && $pip --no-build-isolation --editable .
}

if ! is_supported "$venv/bin/python"; then
    python=$(find_python)
    check_sqlite "$python"
    rm -rf "$venv"
    echo "setup: making $venv with $("$python" --version)" >&2
    make_venv "$python"
fi
check_sqlite "$venv/bin/python"
echo "setup: installing $lock" >&2
with_uv || with_pip

# The larger locks hold the smaller ones: nothing is installed twice.
case $1 in
    bench) touch "$venv/.base" "$venv/.serve" "$venv/.dev" "$venv/.bench" ;;
    dev) touch "$venv/.base" "$venv/.serve" "$venv/.dev" ;;
    serve) touch "$venv/.base" "$venv/.serve" ;;
    *) touch "$venv/.base" ;;
esac
