// What the processor has, of what this build may use (the CMake option HEADSCOPE_CPU_MOST).
#pragma once

namespace headscope::cpu {

bool has_avx2();
bool has_many_registers();  // 32 registers of 16 floats: AVX-512
bool has_vnni();            // I8 products of AVX-512
bool has_bf16_products();   // BF16 products of AVX-512: else operands are rounded and multiplied in float
bool has_tiles();           // tile registers for I8 products (AMX), and the system grants them

}  // namespace headscope::cpu
