/**
 * Draws a create whose first answer is lost between D1 and the worker: a timeline of each worker,
 * as an SVG.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../ops/command/project-root.ts';

/** What the client got for a request, and the animals that are stored after it. */
export type Step = { reply: string; animals: number };

/** The colors of GitHub, whose pages show the picture: of text, of a success, and of a failure. */
const THEMES = {
  light: { ink: '#1f2328', good: '#1a7f37', bad: '#cf222e' },
  dark: { ink: '#f0f6fc', good: '#3fb950', bad: '#f85149' },
};

/** Of the labels, and of the events of each worker. */
const COLUMNS = [0, 172, 287];

const LABELS = [
  'Client creates',
  'animals in D1',
  'D1’s answer',
  'worker',
  'client gets',
  'Client retries',
  'animals in D1',
  'client gets',
];

/** What happens at each label. */
function eventsOf([first, second]: (Step | undefined)[]): string[] {
  const reply = (step?: Step) => `${step?.reply === '201' ? '✓' : '✗'} ${step?.reply}`;
  const reaction = first?.reply === '201' ? 'asks again' : 'fails';
  const creation = [`${first?.animals}`, '✗ lost', reaction, reply(first)];
  return ['', ...creation, '', `${second?.animals}`, reply(second)];
}

/** They are as wide as a telephone. */
export function drawPictures(names: string[], scene: Step[][]): void {
  const lanes = scene.map((steps, lane) => [`${names[lane]}`, ...eventsOf(steps)]);
  for (const [theme, { ink, good, bad }] of Object.entries(THEMES)) {
    const colorOf = (text: string) => {
      if (/^[✗2]/.test(text)) return bad;
      return /^[✓1]/.test(text) ? good : ink;
    };
    const texts = [['', ...LABELS], ...lanes].flatMap((column, index) =>
      column.map((text, row) => {
        const weight = row === 0 || text.startsWith('Client') ? 700 : 400;
        return `<text x="${COLUMNS[index]}" y="${30 * row + 20}" fill="${colorOf(text)}" font-weight="${weight}">${text}</text>`;
      }),
    );
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 380 270" font-family="system-ui, sans-serif" font-size="15">
<title>A create whose answer is lost, at each worker</title>
<g stroke="${ink}" opacity="0.4">
<path d="M160 45v211M275 45v211" stroke-width="2"/>
<path d="M160 45v211M275 45v211" stroke-width="10" stroke-linecap="round" stroke-dasharray="0 30"/>
</g>
${texts.join('\n')}
</svg>
`;
    writeFileSync(join(PROJECT_ROOT, `docs/images/lost-answer-${theme}.svg`), svg);
  }
}
