// Two columns of tokens and a line from each query to each key in the colours of the heads, as in the paper's Figures 3
// to 5. The opacity of a line is its weight. Only what is on screen is drawn, so that long texts scroll smoothly.
const kRow = 24; // the height of a token, as --row in the style sheet
const kFaintest = 4 / 255; // lines with less are not drawn, as in the figures
const kLevels = 32; // of opacity: lines of one level are one path
const kSwatch = 8; // the width of a head's weight beside a token

const headView = {
  matrices: new Map(), // of this layer, by head
  waiting: false,

  // For another kind, layer or grouping of tokens.
  load() {
    this.matrices.clear();
    const { query_name: query, key_name: key } = kindNow();
    byId('query-name').textContent = query ? `query: ${query}` : 'query';
    byId('key-name').textContent = key ? `key: ${key}` : 'key';
    for (const side of ['queries', 'keys']) {
      const buttons = rowNow(side).map(([label], index) =>
        element('button', { type: 'button', 'data-index': index, 'aria-pressed': 'false', title: shownLabel(label) },
          isolated(label)));
      buttons.forEach((button, index) => { button.tabIndex = index === 0 ? 0 : -1; });
      byId(side).replaceChildren(...buttons);
    }
    const rows = Math.max(rowNow('queries').length, rowNow('keys').length);
    document.querySelector('.between').style.height = `${kRow * rows}px`;
  },

  matrix(head) {
    if (!this.matrices.has(head)) {
      this.matrices.set(head, headMatrix(kindNow(), layerNow(), head, state.joins));
    }
    return this.matrices.get(head);
  },

  // The token whose lines alone are drawn, if any.
  chosen: () => state.pointed ?? state.kept,

  show() {
    if (state.tab !== 'heads') {
      return; // the pointer left because another tab was opened
    }
    for (const side of ['queries', 'keys']) {
      const kept = state.kept?.side === side ? state.kept.index : -1;
      const chosen = this.chosen()?.side === side ? this.chosen().index : -1;
      [...byId(side).children].forEach((button, index) => {
        button.setAttribute('aria-pressed', String(index === kept));
        button.classList.toggle('chosen', index === chosen);
      });
    }
    this.tell();
    this.draw();
  },

  // Once for each picture of the screen.
  drawSoon() {
    if (!this.waiting) {
      this.waiting = true;
      requestAnimationFrame(() => {
        this.waiting = false;
        this.draw();
      });
    }
  },

  draw() {
    const canvas = byId('lines');
    const space = canvas.parentElement.getBoundingClientRect();
    const height = Math.min(space.height, byId('heads').clientHeight - kRow);
    if (height <= 0 || space.width <= 0) {
      return;
    }
    const context = sharpContext(canvas, space.width, height);
    const top = canvas.getBoundingClientRect().top - space.top;
    const view = {
      context, top, width: space.width, chosen: this.chosen(),
      first: Math.floor(top / kRow), last: Math.ceil((top + height) / kRow) - 1,
    };
    const heads = [...state.on].sort((a, b) => a - b);
    view.swatch = Math.min(kSwatch, (0.3 * view.width) / heads.length);
    view.spread = Math.min(3, 16 / heads.length);
    context.translate(0, -top);
    heads.forEach((head, place) => this.drawHead(view, head, place, heads.length));
  },

  drawHead(view, head, place, count) {
    const { context, width, chosen } = view;
    const matrix = this.matrix(head);
    const levels = Array.from({ length: kLevels + 1 }, () => []);
    const add = (query, key) => {
      const weight = matrix.values[query * matrix.columns + key];
      if (weight >= kFaintest) {
        levels[Math.min(kLevels, Math.ceil(weight * kLevels))].push(query, key); // rounded sums may exceed 1
      }
    };
    this.forLines(view, matrix, add);
    const band = view.swatch * count;
    const from = chosen?.side === 'keys' ? band : 0;
    const to = chosen?.side === 'queries' ? width - band : width;
    const shift = kRow / 2 + (place - (count - 1) / 2) * view.spread;
    context.strokeStyle = context.fillStyle = coloursNow().heads[head];
    context.lineWidth = Math.min(2, view.spread);
    levels.forEach((pairs, level) => {
      context.globalAlpha = level / kLevels;
      context.beginPath();
      for (let i = 0; i < pairs.length; i += 2) {
        context.moveTo(from, pairs[i] * kRow + shift);
        context.lineTo(to, pairs[i + 1] * kRow + shift);
      }
      context.stroke();
    });
    if (chosen) {
      const left = (chosen.side === 'queries' ? to : 0) + place * view.swatch;
      this.forSwatches(view, matrix, (row, weight) => {
        context.globalAlpha = Math.min(weight, 1);
        context.fillRect(left, row * kRow, view.swatch, kRow);
      });
    }
    context.globalAlpha = 1;
  },

  // The lines of the chosen token, or those with an end on screen.
  forLines({ chosen, first, last }, { rows, columns }, add) {
    const every = (count, visit) => {
      for (let i = 0; i < count; ++i) {
        visit(i);
      }
    };
    if (chosen?.side === 'queries') {
      every(columns, key => add(chosen.index, key));
    } else if (chosen) {
      every(rows, query => add(query, chosen.index));
    } else {
      for (let query = first; query <= Math.min(last, rows - 1); ++query) {
        every(columns, key => add(query, key));
      }
      for (let key = first; key <= Math.min(last, columns - 1); ++key) {
        every(rows, query => (query < first || query > last) && add(query, key));
      }
    }
  },

  forSwatches({ chosen, first, last }, { rows, columns, values }, visit) {
    const ofQuery = chosen.side === 'queries';
    for (let row = first; row <= Math.min(last, (ofQuery ? columns : rows) - 1); ++row) {
      visit(row, ofQuery ? values[chosen.index * columns + row] : values[row * columns + chosen.index]);
    }
  },

  // The strongest lines of the chosen token in words.
  tell() {
    const chosen = this.chosen();
    if (!chosen) {
      const { name, meaning } = kindNow();
      say(`${name}, layer ${layerNow().layer}: ${meaning}. Point at a token to see only its lines.`);
      return;
    }
    const ofQuery = chosen.side === 'queries';
    const others = rowNow(ofQuery ? 'keys' : 'queries');
    const lines = [...state.on].flatMap(head => {
      const { columns, values } = this.matrix(head);
      return others.map(([label], index) => ({
        label, head, weight: ofQuery ? values[chosen.index * columns + index] : values[index * columns + chosen.index],
      }));
    });
    lines.sort((a, b) => b.weight - a.weight);
    const digits = digitsFor(lines[0]?.weight ?? 0);
    const strongest = lines.slice(0, 3).filter(line => line.weight >= kFaintest).flatMap(({ label, head, weight }) =>
      [' ', isolated(label), ` ${shownNumber(weight, digits)} (head ${head + 1})`, ',']).slice(0, -1);
    const token = isolated(rowNow(chosen.side)[chosen.index][0]);
    say(token, ofQuery ? ' looks at' : ' is seen by', ...(strongest.length > 0 ? strongest : [' nothing']));
  },

  listen() {
    const panel = byId('heads');
    for (const side of ['queries', 'keys']) {
      const container = byId(side);
      const other = byId(side === 'queries' ? 'keys' : 'queries');
      const point = event => {
        const button = event.target.closest('button');
        state.pointed = button && { side, index: Number(button.dataset.index) };
        this.show();
      };
      const leave = () => {
        state.pointed = null;
        this.show();
      };
      container.addEventListener('pointerover', point);
      container.addEventListener('pointerleave', leave);
      container.addEventListener('focusin', point);
      container.addEventListener('focusout', leave);
      container.addEventListener('click', event => {
        const button = event.target.closest('button');
        if (button) {
          const index = Number(button.dataset.index);
          const again = state.kept?.side === side && state.kept.index === index;
          state.kept = again ? null : { side, index };
          this.show();
        }
      });
      roving(container, (key, at, all) => {
        const across = other.children[Math.min(at, other.children.length - 1)];
        return { ArrowDown: all[at + 1], ArrowUp: all[at - 1], Home: all[0], End: all.at(-1),
          [side === 'queries' ? 'ArrowRight' : 'ArrowLeft']: across }[key];
      });
    }
    panel.addEventListener('scroll', () => this.drawSoon());
    new ResizeObserver(() => this.drawSoon()).observe(panel);
  },
};
