#include "experiment/studies.h"

namespace headscope {

const std::vector<Study>& studies() {
    static const std::vector<Study> all = {table1(),           table2(),     table3(),   table4(),
                                           attention_scores(), long_range(), replaced(), residuals()};
    return all;
}

}  // namespace headscope
