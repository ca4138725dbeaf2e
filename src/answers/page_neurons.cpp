#include "answers/page_neurons.h"

#include <utility>

#include "explore/explorer.h"
#include "figures/heads_page.h"

namespace headscope {

PageNeurons page_neurons(const Place& place, const ExploreRequest& request, const AttentionRecord& record,
                         std::size_t most_bytes) {
    const Explorer explorer(place.backend, place.model, place.compute);
    PageNeurons found;
    std::size_t bytes = 0;
    for (const SiteWeights& site : record.sites) {
        place.go_on();
        for (NeuronView& view : explorer.neurons(request, site.site, 1, static_cast<int>(site.heads))) {
            if (!view.problem.empty()) {
                found.notes.push_back("Without queries and keys: " + view.problem + ".");
                return found;
            }
            bytes += neuron_bytes(view);
            found.neurons.push_back(std::move(view));
        }
        if (bytes > most_bytes) {
            break;
        }
    }
    return found;
}

}  // namespace headscope
