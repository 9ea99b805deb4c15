/** client/README.md, and its parts that several tests read. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';

export const README = readFileSync(join(PROJECT_ROOT, 'client/README.md'), 'utf8');

/** The code blocks of a language, as one program. */
export function programIn(language: string, document = README): string {
  const blocks = document.split(`\`\`\`${language}\n`).slice(1);
  return blocks.map((block) => block.split('```')[0]).join('');
}

/** The examples of a section. */
export function sectionOf(heading: string): string {
  const [, section = ''] = README.split(`\n## ${heading}\n`);
  return programIn('ts', section.split('\n## ')[0]);
}

export const EXAMPLES = programIn('ts');
/** The examples before that of undici, which is for Node.js. */
export const [PORTABLE = ''] = EXAMPLES.split('import { ProxyAgent');

/** The rows of the table of methods. */
export const METHODS = Array.from(
  README.matchAll(/^\| `(\w+)` +\| `(.+?)` +\| (yes|no) .*\| (.+?) +\|$/gm),
  ([, name, request = '', retried, stability]) => ({
    name,
    request: request.replace('/', '/v1/'),
    retried,
    stability,
  }),
);
