package config

import (
	"errors"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// file reads the YAML file into cfg and gives back the entries under accounts, which can only be read once the settings
// below them are complete; not ok means that the file as a whole could not be understood. The syntax tree is walked here, instead of decoded by the library, which stops at the first
// fault, and would make a number of the system_id 0123.
func (l *loader) file(text []byte, cfg *Config) (accounts []ast.Node, ok bool) {
	// The library takes duplicate keys as an error of the file; mapping tells them as one fault of many.
	tree, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		l.syntax(err)
		return nil, false
	}
	var body ast.Node
	for _, doc := range tree.Docs {
		if isEmpty(doc.Body) {
			continue
		}
		if body != nil {
			l.fault("", l.at(doc.Body), "is a second document: put all settings into one, without a line of ---")
			return nil, false
		}
		body = doc.Body
	}
	if _, ok := body.(ast.MapNode); body != nil && !ok {
		l.fault("", l.at(body), "is %s: write settings, as key: value", kind(body))
		return nil, false
	}
	return l.mapping("", body, reflect.ValueOf(cfg).Elem()), true
}

func (l *loader) syntax(err error) {
	var at yaml.Error
	if errors.As(err, &at) && at.GetToken() != nil {
		p := at.GetToken().Position
		l.fault("", position(l.fileName, p.Line, p.Column), "is no valid YAML: %s", at.GetMessage())
		return
	}
	l.fault("", l.fileName, "is no valid YAML: %v", err)
}

// at is where a node begins in the file.
func (l *loader) at(node ast.Node) string {
	if keys, ok := node.(ast.MapNode); ok && node.GetToken().Value == ":" {
		// A section written below its key stands, for the library, where its first colon does.
		if iter := keys.MapRange(); iter.Next() {
			node = iter.Key()
		}
	}
	p := node.GetToken().Position
	return position(l.fileName, p.Line, p.Column)
}

// isEmpty tells a key without a value, and a document without one, as when all below them is commented out.
func isEmpty(node ast.Node) bool {
	if node == nil {
		return true
	}
	switch node.Type() {
	case ast.NullType, ast.CommentType, ast.CommentGroupType, ast.DirectiveType:
		return true
	}
	return false
}

// mapping reads the keys of a section, which is a struct, and returns the entries of accounts where it meets them.
func (l *loader) mapping(path string, node ast.Node, section reflect.Value) (accounts []ast.Node) {
	if isEmpty(node) {
		return nil
	}
	keys, ok := node.(ast.MapNode)
	if !ok {
		l.fault(path, l.at(node), "is %s: write its settings below it, as key: value", kind(node))
		return nil
	}
	first := map[string]string{}
	for iter := keys.MapRange(); iter.Next(); {
		keyNode, valueNode := iter.Key(), iter.Value()
		name, origin := keyNode.GetToken().Value, l.at(keyNode)
		child := strings.TrimPrefix(path+"."+name, ".")
		field, known := fieldNamed(section, name)
		if _, plain := keyNode.(ast.ScalarNode); !plain || !known {
			l.fault(path, origin, "%s is no key here: use %s", shown(name), strings.Join(fieldNames(section), ", "))
			continue
		}
		if earlier, twice := first[name]; twice {
			l.fault(child, origin, "is given already at %s: keep one of the two", earlier)
			continue
		}
		first[name] = origin
		switch {
		case isAccounts(field):
			accounts = l.entries(child, valueNode)
		case field.Kind() == reflect.Struct:
			l.mapping(child, valueNode, field)
		default:
			l.value(child, origin, valueNode, field)
		}
	}
	return accounts
}

// entries takes a list of sections apart.
func (l *loader) entries(path string, node ast.Node) []ast.Node {
	if isEmpty(node) {
		return nil
	}
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		l.fault(path, l.at(node), "is %s: write a list, each entry beginning with - system_id:", kind(node))
		return nil
	}
	return list.Values
}

// value reads one setting. The place of a value that is missing is that of its key.
func (l *loader) value(path, keyOrigin string, node ast.Node, setting reflect.Value) {
	if isEmpty(node) {
		l.broken[path] = true
		l.fault(path, keyOrigin, "has no value: give one (%s for none) or take the line out", emptyValue(setting))
		return
	}
	if !isList(setting) {
		if text, ok := l.scalar(path, node); ok {
			l.set(path, l.at(node), setting, []string{text})
		}
		return
	}
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		l.broken[path] = true
		l.fault(path, l.at(node), "is %s: write a list, as [a, b]", kind(node))
		return
	}
	texts := make([]string, 0, len(list.Values))
	for _, element := range list.Values {
		text, ok := l.scalar(path, element)
		if !ok {
			return
		}
		texts = append(texts, text)
	}
	l.set(path, l.at(node), setting, texts)
}

func emptyValue(setting reflect.Value) string {
	if isList(setting) {
		return "[]"
	}
	return `""`
}

// scalar gives a value as it stands in the file: 0123 is a text of four digits.
func (l *loader) scalar(path string, node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	l.broken[path] = true
	l.fault(path, l.at(node), "is %s: write one plain value, in quotes where it holds a colon", kind(node))
	return "", false
}

// kind names what stands in the file, for messages.
func kind(node ast.Node) string {
	switch node.(type) {
	case ast.MapNode:
		return "a section of keys"
	case *ast.SequenceNode:
		return "a list"
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		return "a YAML anchor, alias or tag, which are not understood here"
	case *ast.NullNode:
		return "empty"
	}
	return "a single value"
}

func fieldNamed(section reflect.Value, name string) (reflect.Value, bool) {
	for i := range section.NumField() {
		if key(section.Type().Field(i)) == name {
			return section.Field(i), true
		}
	}
	return reflect.Value{}, false
}

func fieldNames(section reflect.Value) []string {
	var names []string
	for i := range section.NumField() {
		names = append(names, key(section.Type().Field(i)))
	}
	return names
}
