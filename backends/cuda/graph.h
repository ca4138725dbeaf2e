// A recorded sequence of ops that the device launches at once.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <memory>

#include "backends/cuda/stream.h"

namespace headscope::cuda {

class Graph {
public:
    // Records what `body` enqueues on the stream without executing it. Error if body waits for the device.
    static std::unique_ptr<Graph> record(Stream& stream, const std::function<void()>& body);
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    ~Graph();

    void launch(Stream& stream) const;

private:
    explicit Graph(cudaGraphExec_t executable) : executable_(executable) {}
    cudaGraphExec_t executable_;
};

}  // namespace headscope::cuda
