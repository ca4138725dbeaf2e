#!/usr/bin/env bash
# assets/scaling/train.sbatch with an srun and an scontrol of our own: when its job queues again.
# shellcheck disable=SC2034,SC2317 # used by what is sourced; the conditions are called through expect
set -uo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/house/expect.sh
. "$repository/tests/house/expect.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
mkdir bin
cat >bin/srun <<'SH'
#!/usr/bin/env bash
echo "$*" >>words
[ "$HOW" != lasts ] || { trap 'kill $!; exit 1' TERM; sleep 30 & wait $!; }
[ "$HOW" != fails ]
SH
printf '#!/usr/bin/env bash\necho "$*" >>queued\n' >bin/scontrol
chmod +x bin/*
export PATH=$PWD/bin:$PATH SLURM_JOB_ID=7 SLURM_CPUS_PER_TASK=8
show() { cat words; }
job() { # HOW
    rm -f words queued
    touch queued
    HOW=$1 bash "$repository/assets/scaling/train.sbatch" my.json out/my
    code=$?
}
queued() { [ "$(cat queued)" = "$1" ]; }
job ends
expect "a training that ends is not repeated" eval 'ended_with 0 && queued ""'
job fails
expect "one that fails before its first checkpoint is not, either" eval 'ended_with 1 && queued ""'
mkdir -p out/my/checkpoints
touch out/my/checkpoints/step-5.safetensors
job fails
expect "one that fails later queues again" queued "requeue 7"
expect "and goes on" grep -q -- "--output out/my --device cuda --resume$" words
rm -f words queued
HOW=lasts bash "$repository/assets/scaling/train.sbatch" my.json out/my &
batch=$!
until [ -s words ]; do sleep 0.05; done
kill -TERM $batch
wait $batch
expect "so does one whose time is over, once" queued "requeue 7"
SLURM_RESTART_COUNT=4 job fails
expect "but not without end" eval 'ended_with 1 && queued ""'
finish "the batch script goes on after failures"
