/** Charts as SVG, on no background of their own, in colours that can be read on white and on black. */
import { parse, View } from 'vega';
import { type Config, compile, type TopLevelSpec } from 'vega-lite';
import type { Bar } from './bars.ts';
import type { Results } from './results.ts';
import { summarize } from './statistics.ts';

const TEXT = '#7b858f';
const GRID = '#7b858f44';
const COLORS = { measured: '#3d8bd4', 'the bar': '#d9662b', third: '#9a6fd0' };

const CONFIG: Config = {
  background: 'transparent',
  font: 'system-ui, sans-serif',
  view: { stroke: null },
  axis: {
    ...{ labelColor: TEXT, titleColor: TEXT, domainColor: TEXT, tickColor: TEXT, gridColor: GRID },
    ...{ labelFontSize: 13, titleFontSize: 13, titleFontWeight: 'normal', labelLimit: 0 },
  },
  legend: { labelColor: TEXT, titleColor: TEXT, labelFontSize: 13, labelLimit: 0 },
};

const QUARTILES = { type: 'rule', color: TEXT, strokeWidth: 3 } as const;
const MEDIAN = { type: 'point', filled: true, opacity: 1, size: 110 } as const;

/** The ratios, with their quartiles, and what each must reach. */
export function chartOfBars(bars: Bar[]): Promise<string> {
  const values = bars.flatMap(({ figure, least, spread }) =>
    // Two lines where one is too long.
    spread
      ? [{ figure: figure.replace(' animals against', ' animals\nagainst'), least, ...spread }]
      : [],
  );
  const axis = { labelExpr: "split(datum.label, '\\n')" };
  const y = { field: 'figure', type: 'nominal', sort: null, title: null, axis } as const;
  const title = 'requests a second, as a share of the other’s';
  const x = { type: 'quantitative', scale: { zero: false }, title } as const;
  return svg({
    config: CONFIG,
    width: 420,
    height: { step: 40 },
    data: { values },
    layer: [
      { mark: QUARTILES, encoding: { y, x: { ...x, field: 'low' }, x2: { field: 'high' } } },
      {
        mark: MEDIAN,
        encoding: { y, x: { ...x, field: 'median' }, color: color('measured') },
      },
      {
        mark: { type: 'tick', opacity: 1, thickness: 3, size: 26 },
        encoding: { y, x: { ...x, field: 'least' }, color: color('the bar') },
      },
    ],
  });
}

/** Requests a second of a page at each size. */
export function chartOfSizes({ races, sizes }: Results): Promise<string> {
  const values = Object.entries(races.Sizes ?? {}).map(([name, rounds]) => {
    const [page = '', among = ''] = name.split(' among ');
    return { page, among, ...summarize(rounds) };
  });
  const sort = sizes.map(({ pets }) => pets.toLocaleString('en'));
  const axis = { labelAngle: 0 };
  const x = { field: 'among', type: 'nominal', sort, title: 'animals', axis } as const;
  const xOffset = { field: 'page', sort: null };
  const y = { type: 'quantitative', title: 'requests a second' } as const;
  const range = Object.values(COLORS);
  return svg({
    config: CONFIG,
    width: { step: 44 },
    height: 220,
    data: { values },
    layer: [
      {
        mark: QUARTILES,
        encoding: { x, xOffset, y: { ...y, field: 'low' }, y2: { field: 'high' } },
      },
      {
        mark: MEDIAN,
        encoding: {
          ...{ x, xOffset },
          y: { ...y, field: 'median', scale: { zero: true } },
          color: { field: 'page', sort: null, title: null, scale: { range } },
        },
      },
    ],
  });
}

/** A colour of the legend. */
function color(meaning: keyof typeof COLORS) {
  const scale = { domain: ['measured', 'the bar'], range: [COLORS.measured, COLORS['the bar']] };
  return { datum: meaning, title: null, scale };
}

/** A newline at the end, as every text file of the project has. */
async function svg(spec: TopLevelSpec): Promise<string> {
  const view = new View(parse(compile(spec).spec), { renderer: 'none' });
  return `${await view.toSVG()}\n`;
}
