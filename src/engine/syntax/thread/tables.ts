// What counts as a declaration in each grammar, by the type of its node. The grammars share most of the names.
import type { Grammar } from "../language.ts";
import type { SymbolKind } from "./messages.ts";

type KindTable = Readonly<Record<string, SymbolKind>>;

const script: KindTable = {
  function_declaration: "function",
  generator_function_declaration: "function",
  function_signature: "function",
  class_declaration: "class",
  abstract_class_declaration: "class",
  interface_declaration: "interface",
  type_alias_declaration: "type",
  enum_declaration: "enum",
  internal_module: "namespace",
  module: "namespace",
  method_definition: "method",
  method_signature: "method",
  abstract_method_signature: "method",
  public_field_definition: "field",
  field_definition: "field",
  property_signature: "field",
  variable_declarator: "variable",
  pair: "field",
  assignment_expression: "function",
  export_statement: "function",
};

export const tables: Readonly<Record<Grammar, KindTable>> = {
  javascript: script,
  typescript: script,
  tsx: script,
  python: {
    function_definition: "function",
    class_definition: "class",
    assignment: "variable",
    type_alias_statement: "type",
  },
  go: {
    function_declaration: "function",
    method_declaration: "method",
    type_spec: "type",
    type_alias: "type",
    const_spec: "constant",
    var_spec: "variable",
    method_elem: "method",
  },
  rust: {
    function_item: "function",
    function_signature_item: "function",
    struct_item: "class",
    enum_item: "enum",
    union_item: "class",
    trait_item: "interface",
    impl_item: "implementation",
    mod_item: "namespace",
    const_item: "constant",
    static_item: "variable",
    type_item: "type",
    macro_definition: "function",
  },
  java: {
    class_declaration: "class",
    interface_declaration: "interface",
    enum_declaration: "enum",
    record_declaration: "class",
    annotation_type_declaration: "interface",
    method_declaration: "method",
    constructor_declaration: "constructor",
    compact_constructor_declaration: "constructor",
    variable_declarator: "field",
  },
  cpp: {
    function_definition: "function",
    class_specifier: "class",
    struct_specifier: "class",
    union_specifier: "class",
    enum_specifier: "enum",
    namespace_definition: "namespace",
    concept_definition: "type",
    type_definition: "type",
    alias_declaration: "type",
    preproc_def: "constant",
    preproc_function_def: "function",
    declaration: "prototype",
    field_declaration: "prototype",
  },
  "c-sharp": {
    class_declaration: "class",
    struct_declaration: "class",
    interface_declaration: "interface",
    enum_declaration: "enum",
    record_declaration: "class",
    delegate_declaration: "type",
    namespace_declaration: "namespace",
    file_scoped_namespace_declaration: "namespace",
    method_declaration: "method",
    constructor_declaration: "constructor",
    destructor_declaration: "method",
    operator_declaration: "method",
    property_declaration: "field",
    event_declaration: "field",
    local_function_statement: "function",
    variable_declarator: "field",
  },
  php: {
    function_definition: "function",
    class_declaration: "class",
    interface_declaration: "interface",
    trait_declaration: "class",
    enum_declaration: "enum",
    method_declaration: "method",
    const_element: "constant",
    property_element: "field",
    namespace_definition: "namespace",
  },
  ruby: {
    class: "class",
    module: "namespace",
    method: "method",
    singleton_method: "method",
    assignment: "constant",
  },
  bash: { function_definition: "function", variable_assignment: "variable" },
  powershell: {
    function_statement: "function",
    class_statement: "class",
    enum_statement: "enum",
    class_method_definition: "method",
    class_property_definition: "field",
  },
  css: {
    rule_set: "section",
    media_statement: "section",
    keyframes_statement: "section",
    supports_statement: "section",
    at_rule: "section",
  },
  ini: { section: "section", setting: "field" },
  regex: {},
};

/** Nodes that may hold declarations without being one. Expressions are left out: most of a file is made of them. */
const open =
  /^(program|body|block|arguments|object|class|arrow_function|document|stylesheet|translation_unit|source_file)$|_body$|^body_|_block$|statement|declaration|definition|_list$|module|namespace|section|template_decl|preproc_|interface_type|struct_type|export|linkage|clause$|unit$|script_block|type_spec|variable_declarator/;
const closed =
  /(argument|parameter|expression|initializer|type)_list$|^(return|throw|assert|break|continue|import|use|using|package)_|^import|^class_heritage$|string/;
const scriptOpen =
  /^(call_expression|parenthesized_expression|function_expression|unary_expression|assignment_expression|pair|sequence_expression|as_expression|satisfies_expression)$/;
const isScript = /script$|^tsx$/;

function mayHold(grammar: Grammar, type: string): boolean {
  if (isScript.test(grammar) && scriptOpen.test(type)) return true;
  return open.test(type) && !closed.test(type);
}

/** Nodes that belong to the one declaration inside of them: `export`, decorators, `const`. */
const wrapper =
  /^(export_statement|ambient_declaration|decorated_definition|template_declaration|expression_statement|lexical_declaration|variable_declaration|type_declaration|const_declaration|var_declaration|field_declaration|property_declaration|declaration|local_variable_declaration)$/;

/** Nodes above a declaration that belong to it. */
const above = /comment|^decorator$|attribute_item|^attribute_list$/;

export interface NodeRole {
  /** The kind of symbol that it may declare. */
  readonly kind: SymbolKind | undefined;
  readonly mayHold: boolean;
  readonly isWrapper: boolean;
  readonly isAbove: boolean;
}

/** The role of a node type, cached for one walk: a tree has many nodes and few types, and the expressions are slow. */
export function rolesIn(grammar: Grammar): (type: string) => NodeRole {
  const known = new Map<string, NodeRole>();
  return type => {
    const role = known.get(type) ?? {
      kind: Object.hasOwn(tables[grammar], type) ? tables[grammar][type] : undefined,
      mayHold: mayHold(grammar, type),
      isWrapper: wrapper.test(type),
      isAbove: above.test(type),
    };
    known.set(type, role);
    return role;
  };
}
