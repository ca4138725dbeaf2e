// The controls of the page, and its start.
const views = { heads: headView, model: modelView, neurons: neuronView };

// With words or pieces, in this theme, for the chosen heads.
const showTab = () => views[state.tab].show();

// For another kind or layer.
function openLayer() {
  choice(byId('layers'), kindNow().layers.map(layer => String(layer.layer)), state.layer, index => {
    state.layer = index;
    openHeads();
    showTab();
  });
  openHeads();
}

function openHeads() {
  loadSwatches();
  headView.load();
  neuronView.load();
}

function openKind() {
  state.layer = Math.min(state.layer, kindNow().layers.length - 1);
  state.kept = state.pointed = null;
  neuronView.loadQueries();
  openLayer();
  modelView.load();
  byId('items').hidden = state.tab === 'neurons' || !severalPieces(kindNow());
}

function loadSwatches() {
  const fieldset = byId('swatches');
  const swatches = layerNow().heads.map((_, head) => {
    const swatch = element('button', { type: 'button', 'aria-label': `Head ${head + 1}` }, String(head + 1));
    swatch.tabIndex = head === 0 ? 0 : -1;
    return swatch;
  });
  fieldset.replaceChildren(fieldset.firstElementChild, element('div', { class: 'swatches' }, ...swatches));
  const count = swatches.length;
  state.on = new Set([...state.on].filter(head => head < count));
  state.head = Math.min(state.head, count - 1);
  roving(fieldset.lastElementChild, alongRow);
  showSwatches();
}

function showSwatches() {
  const { heads, labels } = coloursNow();
  const one = state.tab === 'neurons';
  byId('swatches').querySelectorAll('button').forEach((swatch, head) => {
    const on = one ? head === state.head : state.on.has(head);
    swatch.setAttribute('aria-pressed', String(on));
    swatch.style.setProperty('--head', heads[head]);
    swatch.style.color = on ? labels[head] : '';
  });
}

const allHeads = () => new Set(layerNow().heads.keys());

function chooseHead(head, only) {
  const alone = state.on.size === 1 && state.on.has(head);
  if (state.tab === 'neurons') {
    state.head = head;
    neuronView.load();
  } else if (only) {
    state.on = alone ? allHeads() : new Set([head]);
  } else if (!state.on.delete(head)) {
    state.on.add(head);
  }
  showSwatches();
  showTab();
}

function openTab(name) {
  state.tab = name;
  for (const tab of document.querySelectorAll('[role=tab]')) {
    const open = tab.id === `tab-${name}`;
    tab.setAttribute('aria-selected', String(open));
    tab.tabIndex = open ? 0 : -1;
    byId(tab.getAttribute('aria-controls')).hidden = !open;
  }
  byId('layers').hidden = byId('swatches').hidden = name === 'model';
  byId('query').hidden = name !== 'neurons';
  byId('swatches').firstElementChild.textContent = name === 'neurons' ? 'Head' : 'Heads';
  byId('items').hidden = name === 'neurons' || !severalPieces(kindNow());
  state.pointed = null;
  showSwatches();
  showTab();
}

function listenToSwatches() {
  const swatches = byId('swatches');
  const headOf = event => event.target.closest('button') && Number(event.target.closest('button').textContent) - 1;
  swatches.addEventListener('click', event => {
    const head = headOf(event);
    if (head !== null) {
      chooseHead(head, event.shiftKey);
    }
  });
  // Its two clicks have switched the head twice.
  swatches.addEventListener('dblclick', event => {
    const head = headOf(event);
    if (head !== null && !event.shiftKey) {
      chooseHead(head, true);
    }
  });
}

function listenToTabs() {
  const list = document.querySelector('[role=tablist]');
  list.addEventListener('click', ({ target }) => {
    if (target.role === 'tab') {
      openTab(target.getAttribute('aria-controls'));
    }
  });
  roving(list, (key, at, all) => {
    const to = alongRow(key, at, all);
    to?.click();
    return to;
  });
}

function listenToTheme() {
  const button = byId('theme');
  const name = () => { button.textContent = isDark() ? 'Light theme' : 'Dark theme'; };
  const repaint = () => {
    name();
    showSwatches();
    showTab();
  };
  button.addEventListener('click', () => {
    document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
    repaint();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
  name();
}

function start() {
  byId('caption').textContent = data.caption;
  byId('caption').hidden = data.caption === '';
  byId('notes').textContent = data.notes.join(' ');
  if (data.neurons.length === 0) {
    byId('tab-neurons').remove();
  }
  choice(byId('kinds'), data.kinds.map(kind => kind.name), 0, index => {
    state.kind = index;
    openKind();
    showTab();
  });
  byId('kinds').hidden = data.kinds.length === 1;
  choice(byId('items'), ['Words', 'Pieces'], state.joins ? 0 : 1, index => {
    state.joins = index === 0;
    state.kept = null;
    headView.load();
    showTab();
  });
  state.on = allHeads();
  listenToTheme();
  listenToTabs();
  listenToSwatches();
  headView.listen();
  modelView.listen();
  document.addEventListener('keydown', event => {
    if (event.key === 'Escape') {
      state.kept = state.pointed = null;
      showTab();
    }
  });
  openKind();
  openTab('heads');
  document.body.classList.remove('waiting');
}

start();
