// Which elements of its buffer a view covers, and whether two views share any.
#pragma once

#include "tensor/tensor.h"

namespace headscope {

// The last element's place, relative to the first. The view has elements.
std::int64_t reach(const Tensor& tensor);
// Whether two views share an element; true if that cannot be ruled out.
bool may_overlap(const Tensor& a, const Tensor& b);
// The same elements of the same memory in the same shape.
bool same_view(const Tensor& a, const Tensor& b);

}  // namespace headscope
