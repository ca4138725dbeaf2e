// The device's own matrices for cooperative_product.glsl: VK_KHR_cooperative_matrix. To be included after product_out.glsl
// and cooperative_tiles.glsl, with HEADSCOPE_HALF, the operands' type of 16 bits.
#define HEADSCOPE_UNROLL unroll
#define MatrixA coopmat<HEADSCOPE_HALF, gl_ScopeSubgroup, kM, kK, gl_MatrixUseA>
#define MatrixB coopmat<HEADSCOPE_HALF, gl_ScopeSubgroup, kK, kN, gl_MatrixUseB>
#define MatrixC coopmat<float, gl_ScopeSubgroup, kM, kN, gl_MatrixUseAccumulator>
#define zero_matrix() MatrixC(0.0)
#define load_a(matrix, at) coopMatLoad(matrix, staged, at, kStride, gl_CooperativeMatrixLayoutRowMajor)
#define load_b(matrix, at) coopMatLoad(matrix, staged, at, kStride, gl_CooperativeMatrixLayoutColumnMajor)
#define multiply_add(a, b, sums) sums = coopMatMulAdd(a, b, sums)
#define store_results(sums, at) coopMatStore(sums, staged, at, kN / 4u, gl_CooperativeMatrixLayoutRowMajor)
#define subgroup() gl_SubgroupID
#define subgroup_lane() gl_SubgroupInvocationID
#define subgroup_barrier() subgroupBarrier()

// alpha times the sums, and beta times what was there.
void put_matrix(MatrixC sums, uint at) {
    MatrixC value = sums * p.alpha;
    if (p.beta != 0.0) {
        MatrixC before;
        coopMatLoad(before, to, at, p.out_row, gl_CooperativeMatrixLayoutRowMajor);
        value = value + before * p.beta;
    }
    coopMatStore(value, to, at, p.out_row, gl_CooperativeMatrixLayoutRowMajor);
}
