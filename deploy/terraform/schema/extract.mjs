// Writes aws.json: the names, types and flags of the attributes and blocks of every AWS resource and data source that
// the modules use, as the provider itself describes them. They are extracted from the provider's JavaScript bindings,
// so that validating the modules needs neither the provider nor the network:
//
//   npm pack @cdktf/provider-aws@21.22.1 && tar -xzf cdktf-provider-aws-21.22.1.tgz
//   node deploy/terraform/schema/extract.mjs package
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const bindings = process.argv[2];
if (!bindings || !existsSync(join(bindings, 'lib'))) {
  console.error('usage: node extract.mjs FOLDER-OF-THE-UNPACKED-BINDINGS');
  process.exit(2);
}

const simple = { string: 'string', number: 'number', boolean: 'bool', any: 'dynamic' };

/** Classes and functions of one file, as text by name. */
function read(folder) {
  const text = readFileSync(join(bindings, 'lib', folder, 'index.js'), 'utf8');
  const classes = new Map();
  for (const match of text.matchAll(/^class (\w+) extends cdktf\.(\w+) \{\n([\s\S]*?)^\}/gm)) {
    classes.set(match[1], { base: match[2], text: match[3] });
  }
  const functions = new Map();
  for (const match of text.matchAll(/^function (\w+)ToHclTerraform\(struct\) \{\n([\s\S]*?)^\}/gm)) {
    functions.set(match[1].toLowerCase(), match[2]);
  }
  return { text, classes, functions };
}

/** What may be written: name, whether it is a block, its type, and the property of the class that holds it. */
function inputs(text) {
  const found = new Map();
  const pattern = new RegExp(
    [
      String.raw`^\s+(\w+): \{`,
      String.raw`\s+value: .*?(?:this\._|struct\.)(\w+).*`,
      String.raw`\s+isBlock: (true|false),`,
      String.raw`\s+type: "(\w+)",`,
      String.raw`\s+storageClassType: "(\w+)",`,
    ].join('\n'),
    'gm'
  );
  for (const [, name, property, isBlock, collection, storage] of text.matchAll(pattern)) {
    found.set(name, { property, nested: isBlock === 'true', collection, storage });
  }
  return found;
}

/** A type as Terraform's protocol writes it. */
function typeOf(input) {
  const element = input.storage.replace(/(List|Map)$/, '');
  if (!(element in simple)) throw new Error(`unknown type ${input.storage}`);
  return input.collection === 'simple' ? simple[element] : [input.collection, simple[element]];
}

function objectType(file, className) {
  const { attributes, blocks } = block(file, className, file.functions.get(className.toLowerCase()) ?? '');
  if (Object.keys(blocks).length > 0) throw new Error(`${className} has blocks within an attribute`);
  return ['object', Object.fromEntries(Object.entries(attributes).map(([name, attribute]) => [name, attribute.type]))];
}

/** The type of what the provider computes, from how the class reads it. */
function computedType(file, owner, name, getter) {
  const called = getter.match(/get(\w+)Attribute\('/);
  if (called) {
    const set = getter.includes('Fn.tolist');
    switch (called[1]) {
      case 'String': return 'string';
      case 'Number': return 'number';
      case 'Boolean': return 'bool';
      case 'List': return [set ? 'set' : 'list', 'string'];
      case 'NumberList': return [set ? 'set' : 'list', 'number'];
      case 'StringMap': return ['map', 'string'];
    }
  }
  const made = owner.text.match(new RegExp(`new (?:cdktf\\.)?(\\w+)\\(this, "${name}"(?:, (true|false))?\\)`));
  if (!made) throw new Error(`no type of ${name}: ${getter}`);
  if (made[1] in { StringMap: 1, BooleanMap: 1, NumberMap: 1 })
    return ['map', simple[made[1].replace('Map', '').toLowerCase()]];
  return [made[2] === 'true' ? 'set' : 'list', objectType(file, made[1].replace(/(List|OutputReference)$/, ''))];
}

/** The block that a class stands for. Only what is computed, and blocks, carry a mark in the text;
 * whether anything else may be left out is told by whether the class can reset it. */
function block(file, className, writes) {
  const owner = file.classes.get(`${className}OutputReference`) ?? file.classes.get(className);
  if (!owner) throw new Error(`no class ${className}`);
  const result = { attributes: {}, blocks: {} };
  const marks = new Map();
  const pattern = /\/\/ (\w+) - computed: (true|false), optional: (true|false), required: (true|false)\n(?=(.*\n.*))/g;
  for (const [, name, computed, optional, required, getter] of owner.text.matchAll(pattern)) {
    marks.set(name, {
      computed: computed === 'true',
      optional: optional === 'true',
      required: required === 'true',
      getter,
    });
  }
  const written = inputs(writes);
  for (const [name, input] of written) {
    const optional = new RegExp(
      `reset\\w+\\(\\) \\{\\n\\s+this\\._${input.property}(\\.internalValue)? = undefined;`
    ).test(owner.text);
    const mark = marks.get(name);
    if (input.nested && !mark?.computed) {
      result.blocks[name] = nested(file, owner, name, input, !optional);
    } else {
      const type = input.nested ? computedType(file, owner, name, '') : typeOf(input);
      const computed = mark?.computed || name === 'id';
      result.attributes[name] = {
        type,
        ...(optional ? { optional } : { required: true }),
        ...(computed ? { computed } : {}),
      };
    }
  }
  for (const [name, { getter }] of marks) {
    if (!written.has(name)) result.attributes[name] = { type: computedType(file, owner, name, getter), computed: true };
  }
  return result;
}

function nested(file, owner, name, input, required) {
  const inner = input.storage.replace(/List$/, '');
  const single = input.collection === 'struct';
  const one = new RegExp(`new \\w+OutputReference\\(this, "${name}"\\)`).test(owner.text);
  return {
    nesting: single ? 'single' : input.collection,
    ...(required ? { min: 1 } : {}),
    ...(one && !single ? { max: 1 } : {}),
    ...block(file, inner, file.functions.get(inner.toLowerCase()) ?? ''),
  };
}

function resource(folder) {
  const file = read(folder);
  const [name, owner] = [...file.classes].find(([, { base }]) =>
    /^Terraform(Resource|DataSource|Provider)$/.test(base)
  );
  return block(file, name, owner.text);
}

/** The provider's class has no marks: all that it takes is optional. */
function provider() {
  const file = read('provider');
  const [, owner] = [...file.classes].find(([, { base }]) => base === 'TerraformProvider');
  const result = { attributes: {}, blocks: {} };
  for (const [name, input] of inputs(owner.text)) {
    if (!input.nested) {
      result.attributes[name] = { type: typeOf(input), optional: true };
      continue;
    }
    const inner = input.storage.replace(/List$/, '');
    const attributes = {};
    for (const [attribute, kind] of inputs(file.functions.get(inner.toLowerCase()))) {
      attributes[attribute] = { type: typeOf(kind), optional: true };
    }
    result.blocks[name] = { nesting: input.collection, attributes, blocks: {} };
  }
  return result;
}

function used(kind) {
  const files = readdirSync(join(here, '..'), { recursive: true }).filter((file) => file.endsWith('.tf'));
  const text = files.map((file) => readFileSync(join(here, '..', file), 'utf8')).join('\n');
  return [...new Set([...text.matchAll(new RegExp(`^${kind} "(aws_\\w+)"`, 'gm'))].map((match) => match[1]))].sort();
}

/** One attribute a line: a diff then names what changed. */
function print(value, depth = 0) {
  const isLeaf = typeof value !== 'object' || 'type' in value || Array.isArray(value);
  if (isLeaf || Object.keys(value).length === 0) return JSON.stringify(value);
  const indent = ' '.repeat(depth + 1);
  const lines = Object.entries(value).map(
    ([name, inner]) => `${indent}${JSON.stringify(name)}: ${print(inner, depth + 1)}`
  );
  return `{\n${lines.join(',\n')}\n${' '.repeat(depth)}}`;
}

const version = readFileSync(join(bindings, 'lib', 'instance', 'index.d.ts'), 'utf8').match(
  /hashicorp\/aws\/([\d.]+)\//
)[1];
const schema = {
  version,
  provider: provider(),
  resources: Object.fromEntries(
    used('resource').map((name) => [name, resource(name.replace(/^aws_/, '').replaceAll('_', '-'))])
  ),
  data: Object.fromEntries(used('data').map((name) => [name, resource(`data-${name.replaceAll('_', '-')}`)])),
};
writeFileSync(join(here, 'aws.json'), `${print(schema)}\n`);
