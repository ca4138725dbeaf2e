// Every head of every layer as a small heat map in the head's colour: a row is a layer.
const kUniform = 0.12; // the opacity of equal weights on all keys, in a short and a long text
const kTileCells = 64; // per side, at most: a cell shows the largest weight that it covers
const kSlice = 12; // milliseconds of drawing, then the page may answer the reader

const modelView = {
  drawing: 0, // counts pictures, so that an older one stops

  load() {
    const kind = kindNow();
    const heads = Math.max(...kind.layers.map(layer => layer.heads.length));
    const grid = element('div', { class: 'grid', role: 'grid', 'aria-label': `${kind.name}: all heads` });
    grid.style.setProperty('--heads', heads);
    const header = name => element('span', { role: 'columnheader' }, name);
    const numbers = Array.from({ length: heads }, (_, head) => header(String(head + 1)));
    grid.append(element('div', { role: 'row' }, header('Layer'), ...numbers));
    kind.layers.forEach((layer, row) => {
      const tiles = layer.heads.map((_, head) => {
        const tile = element('button', { type: 'button', 'data-layer': row, 'data-head': head,
          'aria-label': `Layer ${layer.layer}, head ${head + 1}` }, element('canvas', { 'aria-hidden': 'true' }));
        tile.tabIndex = row === 0 && head === 0 ? 0 : -1;
        return element('div', { role: 'gridcell' }, tile);
      });
      const name = element('span', { role: 'rowheader' }, String(layer.layer));
      grid.append(element('div', { role: 'row' }, name, ...tiles));
    });
    byId('model').replaceChildren(grid);
    roving(grid, (key, at, all) => {
      const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: heads, ArrowUp: -heads }[key];
      return step ? all[at + step] : { Home: all[0], End: all.at(-1) }[key];
    });
  },

  show() {
    this.tell(null);
    const colours = coloursNow().heads.map(channels);
    const tiles = [...byId('model').querySelectorAll('button')];
    const number = ++this.drawing;
    const slice = () => {
      for (const end = performance.now() + kSlice; tiles.length > 0 && performance.now() < end;) {
        this.paint(tiles.shift(), colours);
      }
      if (tiles.length > 0 && number === this.drawing) {
        requestAnimationFrame(slice);
      }
    };
    slice();
  },

  paint(tile, colours) {
    const head = Number(tile.dataset.head);
    const matrix = headMatrix(kindNow(), kindNow().layers[tile.dataset.layer], head, state.joins);
    const { rows, columns, values } = pooled(matrix, kTileCells);
    const power = Math.min(1, Math.log(kUniform) / -Math.log(Math.max(matrix.columns, 2)));
    paintCells(tile.firstElementChild, rows, columns, values,
      weight => [...colours[head], 255 * Math.min(weight, 1) ** power]);
  },

  tell(tile) {
    if (state.tab !== 'model') {
      return; // the pointer left because another tab was opened
    }
    say(tile ? `${tile.getAttribute('aria-label')}. Enter or a click opens it.`
      : `${kindNow().name}: rows are queries, columns keys, more colour is more weight. A click opens a head.`);
  },

  listen() {
    const panel = byId('model');
    for (const event of ['pointerover', 'focusin']) {
      panel.addEventListener(event, ({ target }) => this.tell(target.closest('button')));
    }
    panel.addEventListener('pointerleave', () => this.tell(null));
    panel.addEventListener('click', ({ target }) => {
      const tile = target.closest('button');
      if (tile) {
        state.layer = Number(tile.dataset.layer);
        state.on = new Set([Number(tile.dataset.head)]);
        openLayer();
        openTab('heads');
        byId('tab-heads').focus();
      }
    });
  },
};
