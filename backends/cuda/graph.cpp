#include "backends/cuda/graph.h"

#include "backends/cuda/errors.h"

namespace headscope::cuda {

std::unique_ptr<Graph> Graph::record(Stream& stream, const std::function<void()>& body) {
    // Relaxed mode allows allocating from CUDA meanwhile.
    require(cudaStreamBeginCapture(stream.handle(), cudaStreamCaptureModeRelaxed), "begin to record a graph");
    cudaGraph_t graph = nullptr;
    try {
        body();
    } catch (...) {
        cudaStreamEndCapture(stream.handle(), &graph);
        if (graph != nullptr) {
            cudaGraphDestroy(graph);
        }
        cudaGetLastError();
        throw;
    }
    require(cudaStreamEndCapture(stream.handle(), &graph), "record a graph");
    cudaGraphExec_t executable = nullptr;
    const cudaError_t error = cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphDestroy(graph);
    require(error, "make a graph executable");
    return std::unique_ptr<Graph>(new Graph(executable));
}

Graph::~Graph() {
    cudaGraphExecDestroy(executable_);
}

void Graph::launch(Stream& stream) const {
    stream.enqueued("graph", cudaGraphLaunch(executable_, stream.handle()));
}

}  // namespace headscope::cuda
