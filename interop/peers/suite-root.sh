#!/usr/bin/env bash
# suite-root.sh [SUITE [PACKAGE...]]          (default: trixie openssl)
#
# Puts programs of another Debian suite beside the system's, without installing anything: the packages and all they
# depend on are unpacked into target/peers/SUITE, and
#
#     target/peers/SUITE/run PROGRAM [ARGUMENT...]
#
# runs them with their own loader and libraries. Takes seconds; what is there already is not fetched again.
# Needs a Debian with apt-get and its archive keys; the mirror is the one that this machine is set up with.
set -euo pipefail

suite=${1:-trixie}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- openssl

repository=$(cd "$(dirname "$0")/../.." && pwd)
root=${CARGO_TARGET_DIR:-$repository/target}/peers/$suite
state=$root/.apt
done_list=$state/done

missing=()
for package in "$@"; do
    grep -qxF "$package" "$done_list" 2>/dev/null || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

fail() { echo "suite-root.sh: $*" >&2; exit 1; }
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null \
    || fail "no apt-get here; name an OpenSSL in DTLS_OPENSSL instead"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -E '/debian/?$' | head -n1) \
    || fail "apt is set up with no Debian mirror; name an OpenSSL in DTLS_OPENSSL instead"
keyring=$(find /usr/share/keyrings -name 'debian-archive-keyring.*' | sort | head -n1)
[ -n "$keyring" ] || fail "no Debian archive keys; install debian-archive-keyring"

# An apt of its own: nothing is installed as far as it knows, so that every dependency is fetched.
mkdir -p "$state"/{lists,cache/archives}/partial "$state/etc"
: >"$state/status"
echo "deb [signed-by=$keyring] $mirror $suite main" >"$state/etc/sources.list"
own_apt() {
    apt-get -qq \
        -o Dir::Etc::sourcelist="$state/etc/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::Etc::preferencesparts=/dev/null -o Dir::State="$state" -o Dir::State::lists="$state/lists" \
        -o Dir::State::status="$state/status" -o Dir::Cache="$state/cache" -o Debug::NoLocking=1 \
        -o APT::Install-Recommends=false -o APT::Sandbox::User=root -o Acquire::Languages=none "$@"
}
own_apt update
own_apt --yes --download-only install "${missing[@]}" >/dev/null
for archive in "$state"/cache/archives/*.deb; do
    dpkg-deb --extract "$archive" "$root"
    rm "$archive"
done
for directory in lib lib64 bin sbin; do
    [ -e "$root/$directory" ] || ln -s "usr/$directory" "$root/$directory"
done

cat >"$root/run" <<'RUN'
#!/bin/sh
# run PROGRAM [ARGUMENT...]: a program of this tree, with the loader and the libraries of this tree.
root=$(cd "$(dirname "$0")" && pwd)
for loader in "$root"/usr/lib/*-linux-gnu/ld-linux*.so.*; do break; done
program=$1
shift
exec "$loader" --library-path "$(dirname "$loader")" "$root/usr/bin/$program" "$@"
RUN
chmod +x "$root/run"
printf '%s\n' "${missing[@]}" >>"$done_list"
