#include "viewer/draw/theme.h"

#include <algorithm>
#include <cmath>

namespace headscope::viewer {

namespace {

void set_sizes(ImGuiStyle& style) {
    style.WindowPadding = ImVec2(14.0F, 12.0F);
    style.FramePadding = ImVec2(9.0F, 5.0F);
    style.ItemSpacing = ImVec2(9.0F, 7.0F);
    style.ItemInnerSpacing = ImVec2(7.0F, 5.0F);
    style.CellPadding = ImVec2(7.0F, 4.0F);
    style.ScrollbarSize = 13.0F;
    style.GrabMinSize = 12.0F;
    style.WindowBorderSize = 0.0F;
    style.ChildBorderSize = 1.0F;
    style.PopupBorderSize = 1.0F;
    style.FrameBorderSize = 1.0F;
    style.WindowRounding = 0.0F;
    style.ChildRounding = 4.0F;
    style.FrameRounding = 4.0F;
    style.PopupRounding = 5.0F;
    style.ScrollbarRounding = 6.0F;
    style.GrabRounding = 4.0F;
    style.TabRounding = 4.0F;
}

}  // namespace

ImVec4 to_vec4(Colour colour, float alpha) {
    return ImVec4(static_cast<float>(colour.red) / 255.0F, static_cast<float>(colour.green) / 255.0F,
                  static_cast<float>(colour.blue) / 255.0F, alpha);
}

ImU32 to_u32(Colour colour, double alpha) {
    const int opacity = static_cast<int>(std::lround(std::clamp(alpha, 0.0, 1.0) * 255.0));
    return IM_COL32(colour.red, colour.green, colour.blue, opacity);
}

ImGuiStyle style_of(const Ink& ink, float scale) {
    ImGuiStyle style;  // start from the defaults: ScaleAllSizes() accumulates
    set_sizes(style);
    style.ScaleAllSizes(scale);
    const Colour edge = mixed(ink.rule, ink.text, 0.12);
    const Colour field = ink.dark ? mixed(ink.paper, ink.text, 0.07) : ink.paper;
    const Colour ground = mixed(ink.surface, ink.paper, 0.4);
    const Colour hover = mixed(ink.surface, ink.accent, 0.16);
    const Colour press = mixed(ink.surface, ink.accent, 0.22);  // more leaves too little contrast for faint text
    ImVec4* c = style.Colors;
    c[ImGuiCol_Text] = to_vec4(ink.text);
    c[ImGuiCol_TextDisabled] = to_vec4(ink.faint);
    c[ImGuiCol_WindowBg] = to_vec4(ground);
    c[ImGuiCol_ChildBg] = ImVec4(0.0F, 0.0F, 0.0F, 0.0F);
    c[ImGuiCol_PopupBg] = to_vec4(ink.dark ? ink.surface : ink.paper);
    c[ImGuiCol_Border] = to_vec4(edge);
    c[ImGuiCol_FrameBg] = to_vec4(field);
    c[ImGuiCol_FrameBgHovered] = to_vec4(mixed(field, ink.accent, 0.08));
    c[ImGuiCol_FrameBgActive] = to_vec4(mixed(field, ink.accent, 0.12));
    c[ImGuiCol_ScrollbarBg] = ImVec4(0.0F, 0.0F, 0.0F, 0.0F);
    c[ImGuiCol_ScrollbarGrab] = to_vec4(mixed(ink.rule, ink.text, 0.15));
    c[ImGuiCol_ScrollbarGrabHovered] = to_vec4(mixed(ink.rule, ink.text, 0.3));
    c[ImGuiCol_ScrollbarGrabActive] = to_vec4(mixed(ink.rule, ink.text, 0.45));
    c[ImGuiCol_CheckMark] = to_vec4(ink.accent);
    c[ImGuiCol_SliderGrab] = to_vec4(ink.accent);
    c[ImGuiCol_SliderGrabActive] = to_vec4(ink.accent);
    c[ImGuiCol_Button] = to_vec4(ink.surface);
    c[ImGuiCol_ButtonHovered] = to_vec4(hover);
    c[ImGuiCol_ButtonActive] = to_vec4(press);
    c[ImGuiCol_Header] = to_vec4(press);
    c[ImGuiCol_HeaderHovered] = to_vec4(hover);
    c[ImGuiCol_HeaderActive] = to_vec4(press);
    c[ImGuiCol_Separator] = to_vec4(ink.rule);
    c[ImGuiCol_SeparatorHovered] = to_vec4(ink.accent);
    c[ImGuiCol_SeparatorActive] = to_vec4(ink.accent);
    c[ImGuiCol_Tab] = to_vec4(ground);
    c[ImGuiCol_TabHovered] = to_vec4(hover);
    c[ImGuiCol_TabActive] = to_vec4(ink.paper);
    c[ImGuiCol_TitleBg] = to_vec4(ink.surface);
    c[ImGuiCol_TitleBgActive] = to_vec4(ink.surface);
    c[ImGuiCol_MenuBarBg] = to_vec4(ground);
    c[ImGuiCol_TableHeaderBg] = to_vec4(ink.surface);
    c[ImGuiCol_TableBorderStrong] = to_vec4(ink.rule);
    c[ImGuiCol_TableBorderLight] = to_vec4(ink.rule);
    c[ImGuiCol_TextSelectedBg] = to_vec4(ink.accent, 0.35F);
    c[ImGuiCol_NavHighlight] = to_vec4(ink.accent);
    c[ImGuiCol_ModalWindowDimBg] = ImVec4(0.0F, 0.0F, 0.0F, ink.dark ? 0.55F : 0.25F);
    return style;
}

}  // namespace headscope::viewer
