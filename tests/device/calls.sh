# shellcheck shell=bash
# The parts of run.sh in the order of their worth, with the seconds that each is expected to take on an H200 with 16
# cores. Those between `together` and `apart` run beside one another.

# Whether the kernels are right, how fast a training step is, what each kernel gains, and PyTorch beside it.
call_A() {
    local precision
    part 6 machine "the machine, its devices and what the kit says of them"
    part 15 gate "the ops whose kernels are new, against the double oracle" gate
    part 6 train_bf16 "speed of training in bf16" bench train bf16
    part 6 profile "where the time of a training step goes, bf16" profile
    part 45 ablations "a step without each of the kernels that can be replaced" ablations
    part 30 products "how fast the products of a step are, bf16" products
    part 8 ceilings "memory, products and launches at their best, by PyTorch" ceilings
    part 45 peer_train_bf16_compiled "the same training in PyTorch, compiled, and its kernels" peer train bf16 compiled
    part 14 peer_train_bf16 "the same in PyTorch, eager" peer train bf16 eager
    for precision in f16 tf32 f32; do
        part 7 "train_$precision" "speed of training in $precision" bench train $precision
    done
    for precision in bf16 f32; do
        part 5 "translate_$precision" "speed of greedy decoding in $precision" bench translate $precision
        part 7 "peer_translate_$precision" "the same in PyTorch" peer translate $precision eager
    done
    part 4 translate_one "the same in bf16, one sentence" bench translate bf16 one
    part 6 translate_beam "the same in bf16, 4 hypotheses" bench translate bf16 beam
    part 36 counters "what limits the kernels of attention, layer norm and loss, by ncu" counters
    part 3 data "the data of the trainings"
    together
    part 60 ops_cuda "every op against the double oracle" ops cuda
    part 50 model_cuda "whole models, PyTorch's vectors, training beside the oracle" model cuda
    part 40 train_cuda "the trainer's tests" trainer
    for precision in f32 bf16 f16; do
        part 30 "repeat_$precision" "two trainings alike, bit for bit, in $precision" repeat $precision
        part 40 "curves_$precision" "training in $precision beside the CPU in f32" curves $precision
    done
    part 30 resume "stopped and resumed, against unbroken" resume
    part 40 devices_change "a checkpoint of cuda goes on on cpu, and one of cpu on cuda" devices_change
    apart
    together
    part 30 memcheck_ops "compute-sanitizer memcheck: attention, layer norm, loss" sanitizer memcheck ops
    part 30 racecheck_ops "compute-sanitizer racecheck: the same" sanitizer racecheck ops
    apart
}

# What A's answers ask for, and what it has no time for.
call_B() {
    part 6 machine "the machine, its devices and what the kit says of them"
    part 16 variants "a training step with each variant of the module" variants
    together
    part 45 ops_vulkan "every op against the double oracle on Vulkan" ops vulkan
    part 45 own_vulkan "the Vulkan backend's own tests" own
    apart
    part 8 train_vulkan_f16 "speed of training on Vulkan in f16" bench train f16 vulkan
    part 8 train_vulkan_bf16 "the same in bf16" bench train bf16 vulkan
    part 60 ops_ptx60 "every op with the P100's PTX (compute_60), compiled by the driver" ops ptx60
    part 20 tune_vulkan_f16 "the fastest way of each product in F16 on Vulkan, by matrices" tune f16
    part 12 profile_vulkan "where the time of a training step goes on Vulkan, f16" profile f16 vulkan
    together
    part 30 conform_vulkan "every op on Vulkan: how far from the oracle" conform vulkan
    part 30 model_vulkan "whole models and PyTorch's vectors on Vulkan" model vulkan
    apart
    part 8 lengths "how the time of attention grows with the length" lengths
}

# For hours of a machine of one's own.
call_C() {
    local precision
    part 6 machine "the machine, its devices and what the kit says of them"
    part 3 data "the data of the trainings"
    together
    part 60 memcheck_train "compute-sanitizer memcheck: training and translating" sanitizer memcheck train
    part 60 racecheck_train "compute-sanitizer racecheck: the same" sanitizer racecheck train
    part 50 translations "translations beside the CPU's" translations cuda
    part 50 translations_vulkan "the same on Vulkan" translations vulkan
    apart
    for precision in f16 tf32 f32; do
        part 20 "peer_train_$precision" "training in PyTorch in $precision, eager" peer train $precision eager
    done
    part 60 conform_cuda "every op on CUDA: how far from the oracle, and how fast" conform cuda timed
    part 60 conform_vulkan_timed "the same on Vulkan" conform vulkan timed
    part 100 ops_speed "every op on every device beside the CPU" bench_ops
    part 20 train_vulkan "speed of training on Vulkan in f32, small" bench_small train vulkan
    part 20 translate_vulkan "speed of greedy decoding on Vulkan, small" bench_small translate vulkan
    part 45 tune_vulkan "the fastest way of each product on Vulkan" tune f32
    part 20 tuned_vulkan "the small training on Vulkan once more, tuned" bench_small train vulkan tuned
}
