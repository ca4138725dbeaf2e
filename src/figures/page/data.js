// What the page shows, from the JSON that headscope wrote into it.
const data = JSON.parse(document.getElementById('data').textContent);

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) {
    bytes[i] = text.charCodeAt(i);
  }
  return bytes;
}

// 16-bit numbers are little-endian, as every browser's machine is.
const words16 = bytes => new Uint16Array(bytes.buffer);

// One head of a layer as [queries, keys] of the model's pieces. `head` counts from 0.
function pieceWeights(layer, head) {
  const { queries, keys, triangle } = layer;
  const weights = new Float32Array(queries * keys);
  const bytes = bytesOf(layer.heads[head]);
  if (data.form === 'strong') {
    const numbers = words16(bytes);
    for (let query = 0, at = 0; query < queries; ++query) {
      const count = numbers[at++];
      for (let i = 0; i < count; ++i) {
        weights[query * keys + numbers[at + i]] = numbers[at + count + i] / 65535;
      }
      at += 2 * count;
    }
    return weights;
  }
  const fine = data.form === 'fine';
  const numbers = fine ? words16(bytes) : bytes;
  for (let query = 0, at = 0; query < queries; ++query) {
    const end = triangle ? query + 1 : keys;
    for (let key = 0; key < end; ++key, ++at) {
      weights[query * keys + key] = fine ? numbers[at] / 65535 : (numbers[at] / 255) ** 2;
    }
  }
  return weights;
}

// Sums over an item's keys and averages over its queries, so that rows still add up to 1.
function joined(weights, keyCount, queries, keys) {
  const result = new Float32Array(queries.length * keys.length);
  queries.forEach(([, first, count], row) => {
    keys.forEach(([, firstKey, keysOfItem], column) => {
      let sum = 0;
      for (let query = first; query < first + count; ++query) {
        for (let key = firstKey; key < firstKey + keysOfItem; ++key) {
          sum += weights[query * keyCount + key];
        }
      }
      result[row * keys.length + column] = sum / count;
    });
  });
  return result;
}

// The kind's items as [label, first piece, pieces].
const rowOf = (text, joins) => (joins ? text.words : text.pieces);
const severalPieces = kind => [kind.queries, kind.keys].some(text => text.words.length < text.pieces.length);

// One head as { rows, columns, values: [rows, columns] } of the items on show.
function headMatrix(kind, layer, head, joins) {
  const queries = rowOf(kind.queries, joins);
  const keys = rowOf(kind.keys, joins);
  const pieces = pieceWeights(layer, head);
  const values = joins && severalPieces(kind) ? joined(pieces, layer.keys, queries, keys) : pieces;
  return { rows: queries.length, columns: keys.length, values };
}

// The largest weight of each cell of a smaller matrix, so that no weight disappears.
function pooled(matrix, most) {
  const rows = Math.min(matrix.rows, most);
  const columns = Math.min(matrix.columns, most);
  const values = new Float32Array(rows * columns);
  for (let row = 0; row < matrix.rows; ++row) {
    const to = Math.floor((row * rows) / matrix.rows) * columns;
    for (let column = 0; column < matrix.columns; ++column) {
      const at = to + Math.floor((column * columns) / matrix.columns);
      values[at] = Math.max(values[at], matrix.values[row * matrix.columns + column]);
    }
  }
  return { rows, columns, values };
}

// Signed 16-bit multiples of a unit, [rows, d_k] of queries or keys.
const numbersOf = ({ unit, values }) => Float32Array.from(new Int16Array(bytesOf(values).buffer), n => n * unit);

// The head's queries and keys; undefined if the page lacks them. `head` counts from 1.
const neuronOf = (kind, layer, head) =>
  data.neurons.find(one => one.kind === kind.kind && one.layer === layer.layer && one.head === head);

// Equation 1 for one query: of each key the sum of q * k, the score, whether it is seen, and the softmax.
function equationRow(neuron, q, k, query) {
  const { d_k: size, scale, causal, pads, by_distance: byDistance } = neuron;
  const keys = k.length / size;
  const farthest = (byDistance.length - 1) / 2;
  const rows = [];
  for (let key = 0; key < keys; ++key) {
    let sum = 0;
    for (let i = 0; i < size; ++i) {
      sum += q[query * size + i] * k[key * size + i];
    }
    let score = sum * scale;
    if (byDistance.length > 0) {
      score += byDistance[Math.max(-farthest, Math.min(farthest, key - query)) + farthest];
    }
    rows.push({ sum, score, seen: key < keys - pads && !(causal && key > query) });
  }
  const largest = Math.max(...rows.filter(row => row.seen).map(row => row.score));
  const total = rows.reduce((sum, row) => sum + (row.seen ? Math.exp(row.score - largest) : 0), 0);
  return rows.map(row => ({ ...row, weight: row.seen ? Math.exp(row.score - largest) / total : 0 }));
}
