#!/usr/bin/env bash
# A headless Chromium for the tests of the report, where apt-get can fetch one without asking anybody; elsewhere they skip.
# Only tests need it, so set-up, which `make demo` waits for, does not bring it.
set -uo pipefail

for program in chromium chromium-headless-shell; do
    command -v "$program" >/dev/null 2>&1 && exit 0
done
command -v apt-get >/dev/null 2>&1 || exit 0
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2>/dev/null || exit 0
    as_root=(sudo -n)
fi
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" >/dev/null 2>&1; }
browser() { apt install -y --no-install-recommends chromium-headless-shell; }
printf 'tests: installing chromium-headless-shell, for the tests of the report\n' >&2
# Package lists are fetched only when the ones here don't serve.
browser || { apt update && browser; } || printf 'tests: it could not be installed; these tests are skipped\n' >&2
exit 0
