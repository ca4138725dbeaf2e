#include "paint/drawing.h"

namespace headscope {

const char* name_of(Role role) {
    switch (role) {
        case Role::Background: return "background";
        case Role::Title: return "title";
        case Role::Swatch:
        case Role::SwatchLabel: return "swatches";
        case Role::ChosenWord: return "chosen";
        case Role::Slab: return "slabs";
        case Role::Attention: return "attention";
        case Role::QueryLabel: return "queries";
        case Role::KeyLabel: return "keys";
        case Role::Note: return "note";
        case Role::Frame: return "frames";
        case Role::Grid: return "grid";
        case Role::Axis: return "axis";
        case Role::Legend: return "legend";
        case Role::Cell: return "cells";
        case Role::Bar: return "bars";
        case Role::Curve: return "curve";
        case Role::Point: return "points";
        case Role::Block: return "blocks";
        case Role::Node: return "nodes";
        case Role::Edge: return "edges";
        case Role::Label: return "labels";
        case Role::Value: return "values";
    }
    return "";
}

}  // namespace headscope
