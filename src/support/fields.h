// Visits the fields of an aggregate, so that what has to see all of them cannot forget one.
#pragma once

#include <cstddef>

namespace headscope {

namespace fields {

struct Anything {
    template <class T>
    operator T() const;  // NOLINT(google-explicit-constructor): only named, never called
};

template <class Aggregate, class... Found>
constexpr std::size_t count() {
    if constexpr (requires { Aggregate{Found{}..., Anything{}}; }) {
        return count<Aggregate, Found..., Anything>();
    } else {
        return sizeof...(Found);
    }
}

}  // namespace fields

// Calls visit(field) for each field of an aggregate of up to 20, in order.
template <class Aggregate, class Visit>
void for_each_field(const Aggregate& value, const Visit& visit) {
    constexpr std::size_t kCount = fields::count<Aggregate>();
    const auto each = [&](const auto&... field) { (visit(field), ...); };
    static_assert(kCount >= 1 && kCount <= 20);
#define HEADSCOPE_FIELDS(Count, ...)       \
    else if constexpr (kCount == Count) {  \
        const auto& [__VA_ARGS__] = value; \
        each(__VA_ARGS__);                 \
    }
    if constexpr (kCount == 0) {
    }
    HEADSCOPE_FIELDS(1, a)
    HEADSCOPE_FIELDS(2, a, b)
    HEADSCOPE_FIELDS(3, a, b, c)
    HEADSCOPE_FIELDS(4, a, b, c, d)
    HEADSCOPE_FIELDS(5, a, b, c, d, e)
    HEADSCOPE_FIELDS(6, a, b, c, d, e, f)
    HEADSCOPE_FIELDS(7, a, b, c, d, e, f, g)
    HEADSCOPE_FIELDS(8, a, b, c, d, e, f, g, h)
    HEADSCOPE_FIELDS(9, a, b, c, d, e, f, g, h, i)
    HEADSCOPE_FIELDS(10, a, b, c, d, e, f, g, h, i, j)
    HEADSCOPE_FIELDS(11, a, b, c, d, e, f, g, h, i, j, k)
    HEADSCOPE_FIELDS(12, a, b, c, d, e, f, g, h, i, j, k, l)
    HEADSCOPE_FIELDS(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
    HEADSCOPE_FIELDS(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
    HEADSCOPE_FIELDS(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
    HEADSCOPE_FIELDS(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
    HEADSCOPE_FIELDS(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
    HEADSCOPE_FIELDS(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
    HEADSCOPE_FIELDS(19, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
    HEADSCOPE_FIELDS(20, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
#undef HEADSCOPE_FIELDS
}

}  // namespace headscope
