// What the reader has chosen, and the parts that all views share.
const byId = id => document.getElementById(id);

const state = {
  tab: 'heads',
  kind: 0,
  layer: 0, // of the kind's recorded layers
  on: new Set(), // heads that are drawn, from 0
  head: 0, // the only one of the neuron view
  query: 0, // of the neuron view
  joins: data.join_words,
  kept: null, // { side: 'queries' or 'keys', index }
  pointed: null,
};

const kindNow = () => data.kinds[state.kind];
const layerNow = () => kindNow().layers[state.layer];
const rowNow = side => rowOf(kindNow()[side], state.joins);

// A bare mark of a word's beginning is drawn as a dot, as in the figures.
const shownLabel = label => label.replaceAll('\u2581', '\u00b7');
const shownNumber = (number, digits = 2) => number.toFixed(digits).replace('-', '\u2212');
// In a long text all weights are small.
const digitsFor = largest => (largest < 0.1 ? 4 : 2);

// An element with attributes and children. Text stays text: nothing here parses markup.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== false) {
      made.setAttribute(key, value);
    }
  }
  made.append(...children);
  return made;
}

const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
};
const coloursNow = () => data.colours[isDark() ? 'dark' : 'light'];
const cssColour = name => getComputedStyle(document.documentElement).getPropertyValue(name);

// Makes a canvas as sharp as the screen. Returns its context, in CSS pixels.
function sharpContext(canvas, width, height) {
  const ratio = Math.min(devicePixelRatio, 2);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

// One pixel for each value of [rows, columns]; the style sheet enlarges it. `colour` gives [red, green, blue, alpha].
function paintCells(canvas, rows, columns, values, colour) {
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext('2d');
  const image = context.createImageData(columns, rows);
  for (let i = 0; i < rows * columns; ++i) {
    image.data.set(colour(values[i]), 4 * i);
  }
  context.putImageData(image, 0, 0);
}

const channels = hex => [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));

// Only one of the buttons is a stop of the Tab key; the arrow keys go to the others. `next` gives the button that a key
// leads to from an index, or undefined.
function roving(container, next) {
  const buttons = () => [...container.querySelectorAll('button:not(:disabled)')];
  container.addEventListener('focusin', event => {
    for (const button of buttons()) {
      button.tabIndex = button === event.target ? 0 : -1;
    }
  });
  container.addEventListener('keydown', event => {
    const all = buttons();
    const to = next(event.key, all.indexOf(event.target), all);
    if (to) {
      event.preventDefault();
      to.focus();
    }
  });
}

// Left and right, to the ends with Home and End.
function alongRow(key, at, all) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  return step ? all[(at + step + all.length) % all.length] : { Home: all[0], End: all.at(-1) }[key];
}

// A group of radio buttons, or a list where they would be many.
function choice(fieldset, options, chosen, choose) {
  const legend = fieldset.firstElementChild;
  if (options.length > 12) {
    const list = element('select', { 'aria-label': legend.textContent });
    list.append(...options.map((text, index) => element('option', { value: index }, text)));
    list.value = chosen;
    list.addEventListener('change', () => choose(Number(list.value)));
    fieldset.replaceChildren(legend, list);
    return;
  }
  const labels = options.map((text, index) => {
    const radio = element('input', { type: 'radio', name: fieldset.id, checked: index === chosen });
    radio.addEventListener('change', () => choose(index));
    return element('label', {}, radio, element('span', {}, text));
  });
  fieldset.replaceChildren(legend, element('div', { class: 'choice' }, ...labels));
}

// A sentence for those who see it and for screen readers. Its line keeps its height.
const say = (...parts) => byId('said').replaceChildren(...parts);
const isolated = label => element('bdi', {}, shownLabel(label));
