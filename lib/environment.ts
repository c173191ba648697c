/** Environment variables that carry settings into the functions; tables' are in lib/dynamodb/tables.ts. */
export const environment = {
  /** `true`: only agents defined in the agents module exist. */
  strictAgents: 'DORMOUSE_STRICT_AGENTS',
  /** The JWT claim that names a caller's tenant; set only with `auth: jwt`. */
  tenantClaim: 'DORMOUSE_TENANT_CLAIM',
} as const;
