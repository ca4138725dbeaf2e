// exp, log and erfc to about one unit in the last place on every device: GLSL guarantees less, and drivers differ.
#ifndef HEADSCOPE_MATH_GLSL
#define HEADSCOPE_MATH_GLSL

float infinity() { return uintBitsToFloat(0x7f800000u); }

// By bits: a compiler that assumes finite numbers may remove isnan, or a comparison with infinity.
bool is_nan(float x) { return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u; }
bool is_finite(float x) { return (floatBitsToUint(x) & 0x7f800000u) != 0x7f800000u; }
bool is_minus_infinity(float x) { return floatBitsToUint(x) == 0xff800000u; }
float not_a_number() { return uintBitsToFloat(0x7fc00000u); }

float power_of_two(int exponent) { return uintBitsToFloat(uint(exponent + 127) << 23u); }

// Without branches, of which software devices execute both sides.
float precise_exp(float x) {
    float clamped = clamp(x, -104.0, 89.0);
    // x = n ln 2 + r, |r| <= ln 2 / 2, with ln 2 in two parts; the remainder of the series is below 1e-8.
    float n = roundEven(clamped * 1.44269504);
    float r = fma(n, -0.693145752, clamped);
    r = fma(n, -1.42860677e-6, r);
    float series = 1.98412698e-4;
    series = fma(series, r, 1.38888889e-3);
    series = fma(series, r, 8.33333333e-3);
    series = fma(series, r, 4.16666667e-2);
    series = fma(series, r, 1.66666667e-1);
    series = fma(series, r, 0.5);
    series = fma(series, r, 1.0);
    series = fma(series, r, 1.0);
    // In two factors, since 2^n alone may overflow.
    int first = int(n) >> 1;
    float power = series * power_of_two(first) * power_of_two(int(n) - first);
    return is_nan(x) ? x : power;
}

vec4 precise_exp(vec4 x) { return vec4(precise_exp(x.x), precise_exp(x.y), precise_exp(x.z), precise_exp(x.w)); }

// For x > 0, not denormal.
float precise_log(float x) {
    if (!is_finite(x)) {
        return x;
    }
    // x = 2^n m, m in [sqrt(1/2), sqrt(2)); log m = 2 artanh((m - 1) / (m + 1)).
    uint bits = floatBitsToUint(x) - 0x3f3504f3u;
    int n = int(bits) >> 23;
    float m = uintBitsToFloat((bits & 0x007fffffu) + 0x3f3504f3u);
    float f = (m - 1.0) / (m + 1.0);
    float square = f * f;
    float series = 0.222222222;
    series = fma(series, square, 0.285714286);
    series = fma(series, square, 0.4);
    series = fma(series, square, 0.666666667);
    series = fma(series, square, 2.0);
    return fma(float(n), 0.693147181, f * series);
}

// erfc(x) = exp(-x^2) / (1 + 2x) * P((x - 3.75) / (x + 3.75)) for x >= 0: the polynomial is a Chebyshev fit over
// [0, infinity) of relative error 1.1e-8.
float precise_erfc(float x) {
    float a = abs(x);
    a = a > 16.0 ? 16.0 : a;  // far beyond where exp(-a^2) is 0; infinity would make q NaN; NaN stays NaN
    float q = (a - 3.75) / (a + 3.75);
    float p = -0.000224704615;
    p = fma(p, q, 0.000396414293);
    p = fma(p, q, 0.00167776014);
    p = fma(p, q, -0.00984462022);
    p = fma(p, q, 0.0284071587);
    p = fma(p, q, -0.0586469128);
    p = fma(p, q, 0.0922917766);
    p = fma(p, q, -0.108814179);
    p = fma(p, q, 0.0822782384);
    p = fma(p, q, 0.00358625234);
    p = fma(p, q, -0.14024065);
    p = fma(p, q, 1.23751262);
    float tail = precise_exp(-a * a) / fma(2.0, a, 1.0) * p;
    return x < 0.0 ? 2.0 - tail : tail;
}

#endif
