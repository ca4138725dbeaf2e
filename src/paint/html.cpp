#include "paint/html.h"

#include "paint/svg.h"
#include "support/xml.h"

namespace headscope {

namespace {

constexpr const char* kStyle = R"(
body { margin: 0; font: 15px/1.4 Arial, 'Liberation Sans', sans-serif; background: #fff; color: #000; }
figure { margin: 1.5rem; }
svg { max-width: 100%; height: auto; }
figcaption { max-width: 60rem; color: #555; }
.quiet { opacity: 0.04; }
.keys text, .queries text, .swatches rect { pointer-events: auto; cursor: pointer; }
#tip { position: fixed; padding: 0.2rem 0.5rem; border-radius: 0.3rem; background: #222; color: #fff;
       white-space: pre-line; pointer-events: none; visibility: hidden; }
)";

// Tooltips leave their <title>, so that the browser does not show them a second time.
constexpr const char* kScript = R"(
const tip = document.getElementById('tip');
for (const title of document.querySelectorAll('svg g title')) {
  title.parentNode.dataset.tip = title.textContent;
  title.remove();
}
const lines = [...document.querySelectorAll('.line')];
let kept = null;
const agrees = (line, part) =>
  ['query', 'key', 'head'].every(name => !(name in part.dataset) || line.dataset[name] === part.dataset[name]);
function choose(part) {
  for (const line of lines) {
    line.classList.toggle('quiet', part !== null && !agrees(line, part));
  }
}
function tell(text) {
  tip.textContent = text;
  tip.style.visibility = text ? 'visible' : 'hidden';
}
const partAt = target => target.closest ? target.closest('[data-query], [data-key], [data-head]') : null;
document.addEventListener('pointermove', event => {
  const told = event.target.closest ? event.target.closest('[data-tip]') : null;
  tell(told ? told.dataset.tip : '');
  tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 4) + 'px';
  tip.style.top = Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 4) + 'px';
  choose(partAt(event.target) || kept);
});
document.documentElement.addEventListener('pointerleave', () => {
  tell('');
  choose(kept);
});
document.addEventListener('click', event => {
  const part = partAt(event.target);
  kept = part === kept ? null : part;
  choose(kept);
});
)";

}  // namespace

std::string to_html(const Drawing& drawing) {
    std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    page += "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" + escape_xml(drawing.title);
    page += "</title>\n<style>" + std::string(kStyle) + "</style>\n</head>\n<body>\n<figure>\n";
    page += to_svg(drawing, {.data = true}) + "<figcaption>" + escape_xml(drawing.description);
    page += "</figcaption>\n</figure>\n<div id=\"tip\" role=\"status\"></div>\n<script>" + std::string(kScript);
    return page + "</script>\n</body>\n</html>\n";
}

}  // namespace headscope
