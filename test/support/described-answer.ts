import { expect } from 'vitest';
import { openApiDocument } from '../../functions/http/api/document.ts';
import { type Operation, routes } from '../../functions/http/operations.ts';

interface Answer {
  readonly statusCode?: number | undefined;
  readonly body: unknown;
}

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

interface Described {
  readonly description: string;
  readonly content?: { readonly 'application/json'?: { readonly schema: Schema } };
}

interface Documented {
  readonly responses: Readonly<Record<string, Described>>;
}

/** Holds an answer against what the OpenAPI document says of its operation: status, code, and the fields of its body. */
export function expectDescribed(operation: Operation, { statusCode, body }: Answer): void {
  const { path = '', method = '' } = routes.find((route) => route.operation === operation) ?? {};
  const paths = openApiDocument.paths as Readonly<Record<string, Readonly<Record<string, Documented>>>>;
  const described = paths[path]?.[method.toLowerCase()]?.responses[String(statusCode)];
  expect(described, `${operation} says nothing of ${statusCode}`).toBeDefined();
  const { code } = (body ?? {}) as { code?: string };
  if (code !== undefined) expect(described?.description).toContain(`\`${code}\``);
  else expectFields(described?.content?.['application/json']?.schema ?? {}, body);
}

function expectFields(schema: Schema, value: unknown): void {
  const { properties, required = [], items } = resolved(schema);
  if (items !== undefined) for (const item of value as unknown[]) expectFields(items, item);
  if (properties === undefined) return;
  const fields = value as Readonly<Record<string, unknown>>;
  expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(fields)));
  expect(Object.keys(fields)).toEqual(expect.arrayContaining([...required]));
  for (const [name, field] of Object.entries(fields)) expectFields(properties[name] ?? {}, field);
}

function resolved(schema: Schema): Schema {
  const schemas = openApiDocument.components.schemas as Readonly<Record<string, Schema>>;
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (schemas[name] ?? {});
}
