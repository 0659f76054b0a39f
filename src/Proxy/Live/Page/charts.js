// Small charts, drawn as SVG.

import { draw, make } from './dom.js';

const width = 240;
const height = 56;
export const seconds = 120;

/** Draws a chart of the last two minutes: lines of { name, values, area }, the oldest value first,
    null for no value. */
export function sparkline(host, label, lines) {
  const top = niceMax(Math.max(...lines.flatMap(line => line.values.map(value => value ?? 0))));
  const shapes = lines.flatMap(line => shape(line, top));
  host.replaceChildren(
    draw('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
      draw('line', { class: 'floor', x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5 }), ...shapes),
    make('span', { class: 'scale', 'aria-hidden': 'true' }, String(top)));
}

function shape({ name, values, area }, top) {
  const x = index => width - (values.length - 1 - index) * width / (seconds - 1);
  const y = value => height - 1 - value / top * (height - 6);
  const shapes = [];
  for (const run of runs(values)) {
    const points = run.map(index => `${x(index).toFixed(1)},${y(values[index]).toFixed(1)}`);
    if (area) {
      shapes.push(draw('polygon', {
        class: `area ${name}`,
        points: [`${x(run[0]).toFixed(1)},${height}`, ...points, `${x(run.at(-1)).toFixed(1)},${height}`].join(' '),
      }));
    }
    shapes.push(
      draw('polyline', { 'class': `line ${name}`, 'points': points.join(' '), 'vector-effect': 'non-scaling-stroke' })
    );
  }
  return shapes;
}

// The runs of consecutive indexes that have a value.
function runs(values) {
  const found = [];
  values.forEach((value, index) => {
    if (value === null || value === undefined) {
      return;
    }
    if (found.length && found.at(-1).at(-1) === index - 1) {
      found.at(-1).push(index);
    } else {
      found.push([index]);
    }
  });
  return found;
}

function niceMax(value) {
  if (value <= 0) {
    return 1;
  }
  const power = 10 ** Math.floor(Math.log10(value));
  const nice = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find(factor => factor * power >= value) * power;
  return Number(nice.toPrecision(2));
}

/** Draws a bar of parts { name, value } side by side, on a scale that ends at the largest of all bars. */
export function bar(parts, largest, label) {
  const scale = 100 / Math.max(largest, Number.EPSILON);
  let at = 0;
  const shapes = parts.map(({ name, value }) => {
    const part = draw('rect', {
      class: `step ${name}`,
      x: (at * scale).toFixed(2),
      y: 0,
      height: 10,
      width: Math.max(0, value * scale).toFixed(2),
    });
    at += value;
    return part;
  });
  return draw(
    'svg',
    { 'class': 'bar', 'viewBox': '0 0 100 10', 'preserveAspectRatio': 'none', 'role': 'img', 'aria-label': label },
    ...shapes
  );
}
