// Rejects a package-lock.json by which npm would install other packages than package.json asks for.
// CI runs this by its own Node.js: before `npm ci`, and with `--installed` after it, before a
// program of a package runs. So it imports no package.
import { existsSync, readFileSync } from 'node:fs';
import { basename, posix } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

/** The folders of this project that npm links. */
const FOLDERS = ['client', 'ops/node'];
const PATH = /^(?:(?:^|\/)node_modules\/(?:@[\w-][\w.-]*\/)?[\w-][\w.-]*)+$/;
const VERSION = /^\d+\.\d+\.\d+(-[\w.]+)?$/;
/** npm takes them from the lock file, not from the package. */
const NEEDS = ['dependencies', 'optionalDependencies', 'peerDependencies'];

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));
const lock = readJson('package-lock.json');
const entries = Object.entries(lock.packages);

/** npm downloads nothing for them. With a false `link`, it would. */
const isLink = ({ link, resolved }) => link === true && FOLDERS.includes(resolved);

/**
 * Whether npm can only install the package that the path names, from the registry, in one version
 * with one content.
 */
const isExact = (path, entry) =>
  PATH.test(path) &&
  ['name', 'resolved', 'link', 'inBundle', 'hasShrinkwrap'].every((field) => !(field in entry)) &&
  VERSION.test(entry.version) &&
  /^sha512-[\w+/]{86}==$/.test(entry.integrity);

const isAllowed = ([path, entry]) =>
  path === '' || FOLDERS.includes(path) || isLink(entry) || isExact(path, entry);

/** Each platform has its package of Node.js, and npm installs one of them. */
const commandsOf = ({ bin = {} }) => Object.keys(bin).filter((command) => command !== 'node');

function problemsOfLock() {
  const isOther = lock.lockfileVersion !== 3 || 'dependencies' in lock;
  const commands = entries.flatMap(([path, entry]) =>
    commandsOf(entry).map((command) => ({ path, command })),
  );
  const taken = commands.filter(
    ({ command }, index) => commands.findIndex((each) => each.command === command) < index,
  );
  return [
    ...(isOther ? ['must have the version 3'] : []),
    ...(existsSync('npm-shrinkwrap.json') ? ['npm would read npm-shrinkwrap.json instead'] : []),
    ...entries.filter((each) => !isAllowed(each)).map(([path]) => `${path}: is not exact`),
    ...taken.map(({ path, command }) => `${path}: another package has the command ${command}`),
  ];
}

/** What an entry and its package have in common. npm reads an optional dependency only as such. */
function fieldsOf({ name, version, bin = {}, optionalDependencies = {}, ...needs }) {
  const commands = typeof bin === 'string' ? { [basename(name)]: bin } : bin;
  const files = Object.entries(commands).map(([command, file]) => [command, posix.normalize(file)]);
  const others = (field) =>
    Object.entries(needs[field] ?? {}).filter(([each]) => !(each in optionalDependencies));
  return {
    version,
    bin: Object.fromEntries(files),
    optionalDependencies,
    dependencies: Object.fromEntries(others('dependencies')),
    peerDependencies: Object.fromEntries(others('peerDependencies')),
  };
}

/** A package in node_modules must be the one that the path names, and be needed. */
function problemsOf({ path, entry, content }, needed) {
  const [, name] = /.*node_modules\/(.*)/.exec(path) ?? [];
  const [locked, packed] = [entry, content].map(fieldsOf);
  const others = Object.keys(locked).filter(
    (field) => !isDeepStrictEqual(locked[field], packed[field]),
  );
  return [
    ...(name && content.name !== name ? [`is ${content.name}`] : []),
    ...(name && !needed.has(name) ? ['no package needs it'] : []),
    // The entry of a link has no fields: that of its folder has them.
    ...(entry.link ? [] : others.map((field) => `differs in ${field}`)),
  ];
}

/** Compares the entries with the packages. npm leaves out those of other platforms. */
function problemsOfPackages() {
  const installed = entries
    .map(([path, entry]) => ({ path, entry, file: posix.join(path, 'package.json') }))
    .filter(({ file }) => existsSync(file))
    .map((each) => ({ ...each, content: readJson(each.file) }));
  const needs = installed.flatMap(({ content }) => NEEDS.map((field) => content[field]));
  const { devDependencies } = readJson('package.json');
  const needed = new Set(Object.keys(Object.assign({}, devDependencies, ...needs)));
  return installed.flatMap((each) =>
    problemsOf(each, needed).map((problem) => `${each.path}: ${problem}`),
  );
}

const isInstalled = process.argv[2] === '--installed';
const problems = isInstalled ? problemsOfPackages() : problemsOfLock();
for (const problem of problems) console.error(`package-lock.json: ${problem}`);
process.exitCode = problems.length === 0 ? 0 : 1;
