/// How a value is made from a body, and under which name it is kept.
package struct ValueRecipe<Value: Sendable>: Sendable {
    /// Two recipes of one type have different variants if they make different values of one body.
    package var variant: String
    /// The part of the values' limit that a value takes. Without it, the length of its body counts.
    package var cost: (@Sendable (Value) -> Int)?
    package var make: @Sendable ([UInt8]) async throws -> Value

    package init(
        variant: String, cost: (@Sendable (Value) -> Int)? = nil, make: @escaping @Sendable ([UInt8]) async throws -> Value
    ) {
        self.variant = variant
        self.cost = cost
        self.make = make
    }

    var name: ValueName { ValueName(type: ObjectIdentifier(Value.self), variant: variant) }
}

/// A name that tells the values of one body from each other.
struct ValueName: Sendable, Hashable {
    let type: ObjectIdentifier
    let variant: String
}

/// Callers who agree in these share the making of a value.
struct ValueFetchKey: Sendable, Hashable {
    let fetch: SharedFetchKey
    let name: ValueName
}

/// A value of any type, as it is kept.
struct MadeValue: Sendable {
    private let box: any Sendable
    let cost: Int

    init(_ value: some Sendable, cost: Int) {
        box = Box(value: value)
        self.cost = cost
    }

    /// Nil when the value is of another type. The box is compared and not the value: a cast would take nothing for an empty optional.
    func value<Value: Sendable>(as type: Value.Type) -> Value? { (box as? Box<Value>)?.value }

    private struct Box<Value: Sendable>: Sendable { let value: Value }
}
