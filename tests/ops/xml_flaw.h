// Whether a text is well-formed XML, as far as reports use it: elements, attributes and text, without comments.
#pragma once

#include <regex>
#include <set>
#include <string>
#include <vector>

namespace headscope::conformance {

// Of text between tags or quotes: every & begins an entity.
inline bool has_bare_ampersand(const std::string& text) {
    static const std::regex kEntity("&(amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);");
    return std::regex_replace(text, kEntity, "").find('&') != std::string::npos;
}

// What is wrong with a tag's attributes; empty if nothing.
inline std::string attribute_flaw(std::string attributes) {
    static const std::regex kAttribute("^\\s+([A-Za-z_][-A-Za-z0-9_.:]*)=\"([^<\"]*)\"");
    std::set<std::string> names;
    std::smatch match;
    while (std::regex_search(attributes, match, kAttribute)) {
        if (!names.insert(match[1]).second || has_bare_ampersand(match[2])) {
            return "the attribute " + match[1].str();
        }
        attributes = match.suffix();
    }
    return attributes.find_first_not_of(" \n") == std::string::npos ? "" : "attributes: " + attributes;
}

// What is wrong with it; empty if nothing.
inline std::string xml_flaw(std::string text) {
    static const std::regex kTag("^<(/?)([A-Za-z_][-A-Za-z0-9_.:]*)((?:[^<>\"]|\"[^\"]*\")*?)(/?)>");
    const std::string head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    text = text.starts_with(head) ? text.substr(head.size()) : text;
    std::vector<std::string> open;
    bool ended = false;
    for (std::smatch tag; !text.empty();) {
        const std::string words = text.substr(0, text.find('<'));
        if (has_bare_ampersand(words) || (open.empty() && words.find_first_not_of('\n') != std::string::npos)) {
            return "the text: " + words;
        }
        text = text.substr(words.size());
        if (text.empty()) {
            break;
        }
        if (!std::regex_search(text, tag, kTag) || ended) {
            return "no tag belongs there: " + text.substr(0, 100);
        }
        const std::string name = tag[2];
        if (const std::string flaw = attribute_flaw(tag[3]); !flaw.empty()) {
            return name + ": " + flaw;
        }
        if (tag[1].length() == 0) {
            open.push_back(name);
        }
        if (tag[1].length() + tag[4].length() > 0) {
            if (open.empty() || open.back() != name) {
                return name + " is not open";
            }
            open.pop_back();
            ended = open.empty();
        }
        text = tag.suffix();
    }
    return ended ? "" : "it does not end";
}

}  // namespace headscope::conformance
