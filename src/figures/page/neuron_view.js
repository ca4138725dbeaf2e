// Equation 1 for one query of one head, of the model's pieces: q above, each key's k below, q * k by dimension, their
// sum, the score and the softmax.
const kShownDigit = 0.005; // weights that differ more from the softmax have a column of their own

const neuronView = {
  shown: null, // the head on show: its numbers and the parts of the page that change with the query

  neuron: () => neuronOf(kindNow(), layerNow(), state.head + 1),

  // For another kind, layer or head.
  load() {
    this.shown = null;
    const neuron = this.neuron();
    if (!neuron) {
      const there = data.neurons.filter(one => one.kind === kindNow().kind).map(one => `${one.layer}.${one.head}`);
      const text = there.length > 0 ? `The page has queries and keys of these (layer.head): ${there.join(', ')}.`
        : 'The page has no queries and keys of this kind of attention.';
      byId('neurons').replaceChildren(element('p', {}, text));
      return;
    }
    const q = numbersOf(neuron.q);
    const k = numbersOf(neuron.k);
    const used = pieceWeights(layerNow(), state.head);
    const most = Math.max(...[q, k].map(values => values.reduce((a, b) => Math.max(a, Math.abs(b)), 0)));
    this.shown = { neuron, q, k, used, most, ...this.table(neuron) };
  },

  // The table of the keys, whose numbers are filled in for each query.
  table(neuron) {
    const keys = kindNow().keys.pieces;
    const strip = rows =>
      element('td', { rowspan: rows, class: 'strip' }, element('canvas', { 'aria-hidden': 'true' }));
    const queryStrip = strip(1);
    const queryLabel = element('th', { scope: 'row' });
    const strips = [strip(keys.length), strip(keys.length)];
    const rows = keys.map(([label], index) => {
      const cells = ['number', 'number score', 'bar', 'bar used'].map(name => element('td', { class: name }));
      for (const bar of cells.slice(2)) {
        bar.append(element('i'), element('span'));
      }
      const name = element('th', { scope: 'row', title: shownLabel(label) }, isolated(label));
      return { cells, row: element('tr', {}, name, ...(index === 0 ? strips : []), ...cells) };
    });
    const score = neuron.by_distance.length > 0 ? 'score' : `\u00d7 ${neuron.scale.toFixed(3)}`;
    const names = [['key', 'key'], ['q, k'], ['q \u00d7 k'], ['q \u00b7 k', 'number'],
      [score, 'number score'], ['softmax', 'bar'], [neuron.edited ? 'edited' : 'the model\u2019s', 'bar used']];
    const head = element('tr', {},
      ...names.map(([name, kind = '']) => element('th', { scope: 'col', class: kind }, name)));
    const query = element('tr', { class: 'query' }, queryLabel, queryStrip);
    const body = element('tbody', {}, ...rows.map(one => one.row));
    const table = element('table', {}, element('thead', {}, head, query), body);
    const legend = element('p', { class: 'legend faint' });
    byId('neurons').replaceChildren(table, legend);
    return { table, legend, queryLabel, rows, canvases: [queryStrip, ...strips].map(cell => cell.firstElementChild) };
  },

  show() {
    if (!this.shown) {
      say('');
      return;
    }
    const { neuron, q, k, used, most, table, legend, queryLabel, rows, canvases } = this.shown;
    const { d_k: size } = neuron;
    const own = q.subarray(state.query * size, (state.query + 1) * size);
    const products = k.map((value, i) => value * own[i % size]);
    const mostProduct = products.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    const scale = coloursNow().scale.map(channels);
    const signed = largest => value =>
      [...scale[Math.round(((largest > 0 ? value / largest : 0) + 1) / 2 * (scale.length - 1))], 255];
    paintCells(canvases[0], 1, size, own, signed(most));
    paintCells(canvases[1], rows.length, size, k, signed(most));
    paintCells(canvases[2], rows.length, size, products, signed(mostProduct));
    queryLabel.replaceChildren(isolated(kindNow().queries.pieces[state.query][0]));

    const equation = equationRow(neuron, q, k, state.query);
    const weights = used.subarray(state.query * rows.length, (state.query + 1) * rows.length);
    const differs = equation.some(({ weight }, key) => Math.abs(weight - weights[key]) > kShownDigit + data.within);
    table.classList.toggle('uses-other', differs);
    table.style.setProperty('--head', coloursNow().heads[state.head]);
    const digits = digitsFor(Math.max(...equation.map(row => row.weight)));
    equation.forEach(({ sum, score, seen, weight }, key) => {
      const [product, scored, softmax, model] = rows[key].cells;
      product.textContent = shownNumber(sum);
      scored.textContent = seen ? shownNumber(score) : 'masked';
      rows[key].row.classList.toggle('masked', !seen);
      for (const [cell, value] of [[softmax, weight], [model, weights[key]]]) {
        cell.firstElementChild.style.setProperty('--weight', Math.min(value, 1));
        cell.lastElementChild.textContent = shownNumber(value, digits);
      }
    });
    const bar = element('span', { class: 'scale' });
    bar.style.background = `linear-gradient(to right, ${coloursNow().scale.join(', ')})`;
    legend.replaceChildren(
      element('span', {}, `q above, each k below (${size} dimensions): \u2212${most.toPrecision(2)} `, bar,
        ` ${most.toPrecision(2)}`),
      element('span', {}, `q \u00d7 k: \u00b1${mostProduct.toPrecision(2)}`));
    this.tell(equation);
  },

  tell(equation) {
    const best = equation.reduce((at, row, key) => (row.weight > equation[at].weight ? key : at), 0);
    say(`Layer ${layerNow().layer}, head ${state.head + 1}: `, isolated(kindNow().queries.pieces[state.query][0]),
      ' asks each key; the softmax gives most to ', isolated(kindNow().keys.pieces[best][0]),
      ` (${shownNumber(equation[best].weight, digitsFor(equation[best].weight))}).`);
  },

  // The list of queries, with a step to the one before and after.
  loadQueries() {
    const fieldset = byId('query');
    const texts = kindNow().queries.pieces;
    state.query = Math.min(state.query, texts.length - 1);
    const list = element('select', { 'aria-label': 'Query' });
    list.append(...texts.map(([label], index) =>
      element('option', { value: index }, `${index + 1} ${shownLabel(label)}`)));
    list.value = state.query;
    const go = index => {
      state.query = Math.max(0, Math.min(texts.length - 1, index));
      list.value = state.query;
      this.show();
    };
    list.addEventListener('change', () => go(Number(list.value)));
    const step = (name, sign, by) => {
      const button = element('button', { type: 'button', 'aria-label': name }, sign);
      button.addEventListener('click', () => go(state.query + by));
      return button;
    };
    fieldset.replaceChildren(fieldset.firstElementChild,
      element('div', { class: 'steps' }, step('Previous query', '\u2039', -1), list, step('Next query', '\u203a', 1)));
  },
};
