#include "autograd/rotary.h"

#include "backend/ops/rotary.h"
#include "support/check.h"

namespace headscope {

void rotate(Context& ctx, const Var& x, const Turns& turns) {
    if (!turns.table.defined()) {
        return;
    }
    const auto turn = [turns](Backend& backend, const Tensor& view, bool inverse) {
        const Tensor texts = turns.each_row ? view.swap(0, 2) : view;  // the tokens of all rows as one text
        backend.run(Rotate{.x = texts,
                           .turns = turns.table,
                           .first = turns.first,
                           .out = texts,
                           .neighbours = turns.neighbours,
                           .inverse = inverse});
    };
    turn(ctx.backend, x.value(), false);
    if (ctx.tape != nullptr && x.requires_grad()) {
        HEADSCOPE_CHECK(!turns.first.defined() && !turns.each_row, "a tape records whole sequences, from position 0");
        ctx.tape->record("rotate", {},
                         [x = x.without_value(), turn](Backend& backend) { turn(backend, x.gradient(), true); });
    }
}

}  // namespace headscope
