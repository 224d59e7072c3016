#!/bin/sh
# Writes the locks: hash-pinned, for every system and Python that is supported, with no registry address in them.
set -eu
compile() {
    UV_SYSTEM_CERTS=true uv pip compile --quiet --universal --no-header --no-annotate --generate-hashes \
        --python-version 3.11 pyproject.toml "$@"
}
cd requirements/..
compile requirements/base.in --output-file requirements/base.txt
# All that the service can be made of, for whoever runs it; development has the same.
extras="--extra server --extra postgres --extra redis --extra queue --extra rag --extra otel"
# shellcheck disable=SC2086 # the extras are words
compile requirements/base.in $extras --constraint requirements/base.txt --output-file requirements/serve.txt
# shellcheck disable=SC2086
compile requirements/base.in requirements/dev.in $extras --extra bench --constraint requirements/serve.txt \
    --output-file requirements/dev.txt
# shellcheck disable=SC2086
compile requirements/base.in requirements/dev.in requirements/bench.in $extras --extra bench --constraint requirements/dev.txt \
    --output-file requirements/bench.txt
# The site of the documentation has an environment of its own.
UV_SYSTEM_CERTS=true uv pip compile --quiet --universal --no-header --no-annotate --generate-hashes \
    --python-version 3.11 requirements/site.in --output-file requirements/site.txt
