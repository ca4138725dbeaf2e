// The device's own matrices for cooperative_memory.glsl: VK_KHR_cooperative_matrix, F16 with F32 sums. Operands and sums
// lie in `memory`; a load's `pitch` is the words from one row there to the next.

// RoundingModeRTE for 16 bits, by its capability of the same name: a conversion rounds to nearest even, as round.glsl.
spirv_execution_mode(capabilities = [4467], 4462, 16);

#define HEADSCOPE_UNROLL unroll
#define subgroup() gl_SubgroupID
#define subgroup_lane() gl_SubgroupInvocationID
#define subgroup_barrier() subgroupBarrier()
#define pair_of(x, y) packFloat2x16(f16vec2(x, y))

#define MatrixA coopmat<float16_t, gl_ScopeSubgroup, kM, kK, gl_MatrixUseA>
#define MatrixB coopmat<float16_t, gl_ScopeSubgroup, kK, kN, gl_MatrixUseB>
#define MatrixC coopmat<float, gl_ScopeSubgroup, kM, kN, gl_MatrixUseAccumulator>
#define zero_matrix() MatrixC(0.0)
#define load_a(matrix, at, pitch) coopMatLoad(matrix, memory, at, pitch, gl_CooperativeMatrixLayoutRowMajor)
#define load_b(matrix, at, pitch) coopMatLoad(matrix, memory, at, pitch, gl_CooperativeMatrixLayoutRowMajor)
// Of a matrix whose transpose lies in `memory`.
#define load_a_across(matrix, at, pitch) coopMatLoad(matrix, memory, at, pitch, gl_CooperativeMatrixLayoutColumnMajor)
#define load_b_across(matrix, at, pitch) coopMatLoad(matrix, memory, at, pitch, gl_CooperativeMatrixLayoutColumnMajor)
#define multiply_add(a, b, sums) sums = coopMatMulAdd(a, b, sums)
#define store_sums(sums, at, pitch) coopMatStore(sums, memory, at, pitch, gl_CooperativeMatrixLayoutRowMajor)
