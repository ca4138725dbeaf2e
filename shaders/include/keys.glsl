// An interval of keys.
#ifndef HEADSCOPE_KEYS_GLSL
#define HEADSCOPE_KEYS_GLSL

struct Keys {
    uint begin;  // 0 if there are none
    uint count;
};

// The least interval with the keys of both.
Keys joined(Keys a, Keys b) {
    if (a.count == 0u || b.count == 0u) {
        return a.count == 0u ? b : a;
    }
    uint begin = min(a.begin, b.begin);
    return Keys(begin, max(a.begin + a.count, b.begin + b.count) - begin);
}

#endif
