import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** The attributes of our items whose names are reserved words of DynamoDB: only they need a placeholder. */
const reserved = new Set(['ttl', 'sets']);

/** Collects the names and values of one request's expressions. */
export class ExpressionParts {
  readonly #names: Record<string, string> = {};
  readonly #values: Record<string, AttributeValue> = {};
  #count = 0;

  /** An attribute's name as an expression may hold it. */
  name(attribute: string): string {
    if (!reserved.has(attribute)) return attribute;
    this.#names[`#${attribute}`] = attribute;
    return `#${attribute}`;
  }

  /** A placeholder for a value. */
  value(value: AttributeValue): string {
    const placeholder = `:v${this.#count++}`;
    this.#values[placeholder] = value;
    return placeholder;
  }

  /** What sets these attributes in an update: the part after `SET`. */
  assign(attributes: Readonly<Record<string, AttributeValue>>): string {
    return Object.entries(attributes)
      .map(([attribute, value]) => `${this.name(attribute)} = ${this.value(value)}`)
      .join(', ');
  }

  /** Absent where empty: DynamoDB refuses an empty map. */
  get attributes(): {
    ExpressionAttributeNames?: Record<string, string>;
    ExpressionAttributeValues?: Record<string, AttributeValue>;
  } {
    return {
      ...(Object.keys(this.#names).length > 0 && { ExpressionAttributeNames: this.#names }),
      ...(this.#count > 0 && { ExpressionAttributeValues: this.#values }),
    };
  }
}
