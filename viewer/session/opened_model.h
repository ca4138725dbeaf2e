// What the window says of a model that was opened.
#pragma once

#include <memory>

#include "viewer/session/worker.h"

namespace headscope::viewer {

// All but the training and the experiment.
Opened opened_model(Tag tag, const OpenRequest& request, const ModelSource& source,
                    const std::shared_ptr<const SharedModel>& shared);

}  // namespace headscope::viewer
