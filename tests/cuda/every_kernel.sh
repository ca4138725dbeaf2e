#!/usr/bin/env bash
# every_kernel.sh CUOBJDUMP MODULE SM..: the module has machine code of every one of its kernels for each of these
# architectures. Prints how many there are.
set -euo pipefail
cuobjdump=$1 module=$2
shift 2

kernels() { # SM
    "$cuobjdump" -symbols -arch "sm_$1" "$module" 2>/dev/null | awk '/STO_ENTRY/ { print $NF }' | sort -u
}

all=$(for sm in "$@"; do kernels "$sm"; done | sort -u)
[ -n "$all" ] || {
    echo "every_kernel: $module has no kernel for any of: $*" >&2
    exit 1
}
for sm in "$@"; do
    missing=$(comm -23 <(printf '%s\n' "$all") <(kernels "$sm"))
    if [ -n "$missing" ]; then
        printf 'every_kernel: %s has no code for sm_%s of:\n%s\n' "$module" "$sm" "$missing" >&2
        exit 1
    fi
done
echo "$module: $(wc -l <<<"$all") kernels, each for $(printf 'sm_%s ' "$@")"
