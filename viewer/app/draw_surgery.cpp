#include "viewer/app/panels.h"

namespace headscope::viewer {

Drawing draw_surgery(const Scene& scene, const PanelOptions& options) {
    static_cast<void>(scene);
    return draw_remark("(soon)", options);
}

}  // namespace headscope::viewer
