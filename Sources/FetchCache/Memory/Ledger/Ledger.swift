/// The books of a cache: which slots are taken, what each costs, and which is to go next. It knows neither keys nor values, which lie under
/// the same numbers with its user.
///
/// The method is S3-FIFO (Yang et al., SOSP 2023). What is new goes into the *small* queue. At its end an entry that was asked for goes on
/// to the *main* queue; any other leaves, and only its hash is remembered. What comes back while its hash is remembered goes to the main queue at once.
/// At the end of the main queue an entry that was asked for goes round again. So a hit moves nothing, and what is asked for
/// only once passes through a small part of the cache. `Ledger+Eviction.swift` says in what we differ.
struct Ledger {
    let costLimit: Int
    let countLimit: Int

    private(set) var slots: ContiguousArray<Slot> = []
    private var firstFree = SlotNumber.none
    private var index = SlotIndex()
    private var deadlines = DeadlineHeap()

    var small = SlotQueue()
    var main = SlotQueue()
    var smallGhosts = GhostTable()
    var mainGhosts = GhostTable()
    var share: SmallShare
    var hasEvicted = false

    /// - Parameters:
    ///   - costLimit: Above zero.
    ///   - countLimit: Above zero, and below `SlotNumber.none`.
    init(costLimit: Int, countLimit: Int) {
        self.costLimit = costLimit
        self.countLimit = countLimit
        share = SmallShare(costLimit: costLimit, countLimit: countLimit)
    }

    var count: Int { small.count + main.count }
    var cost: Int { small.cost + main.cost }

    func hasRoom(for cost: Int) -> Bool { count < countLimit && cost <= costLimit - self.cost }

    func find(_ hash: Int, where matches: (SlotNumber) -> Bool) -> SlotNumber? { index.find(hash, where: matches) }

    func isExpired(_ number: SlotNumber, at now: Int64) -> Bool {
        let position = slots[Int(number)].deadline
        return position != DeadlineHeap.none && deadlines.deadline(at: position) <= now
    }

    func firstExpired(at now: Int64) -> SlotNumber? { deadlines.firstExpired(at: now) }

    /// Notes a hit.
    mutating func touch(_ number: SlotNumber) {
        if slots[Int(number)].hits < Slot.mostHits { slots[Int(number)].hits += 1 }
    }

    /// Adds an entry for which there is room.
    /// - Parameter predecessor: What it replaces, if it does, from which it inherits its standing.
    mutating func add(hash: Int, cost: Int, deadline: Int64?, replacing predecessor: Slot? = nil) -> SlotNumber {
        var slot = Slot(hash: hash, cost: cost, place: .free)
        if let predecessor {
            slot.place = predecessor.place
            slot.hits = predecessor.hits
        } else {
            slot.place = place(forNew: hash, cost: cost)
        }
        let number = take(slot)
        if slot.place == .small { small.append(number, in: &slots) } else { main.append(number, in: &slots) }
        index.add(number, hash: hash)
        if let deadline { deadlines.add(number, deadline, in: &slots) }
        return number
    }

    /// Takes an entry out and answers what was known of it.
    @discardableResult
    mutating func remove(_ number: SlotNumber) -> Slot {
        let position = Int(number)
        index.remove(number, hash: slots[position].hash)
        if slots[position].deadline != DeadlineHeap.none { deadlines.remove(number, in: &slots) }
        let slot = slots[position]
        if slot.place == .small { small.remove(number, in: &slots) } else { main.remove(number, in: &slots) }
        slots[position].place = .free
        slots[position].next = firstFree
        firstFree = number
        return slot
    }

    /// Moves an entry behind the others in its queue, or from the small queue behind those of the main one.
    mutating func requeue(_ number: SlotNumber, hits: UInt8) {
        if slots[Int(number)].place == .small { small.remove(number, in: &slots) } else { main.remove(number, in: &slots) }
        slots[Int(number)].place = .main
        slots[Int(number)].hits = hits
        main.append(number, in: &slots)
    }

    private mutating func take(_ slot: Slot) -> SlotNumber {
        guard firstFree != .none else {
            slots.append(slot)
            return SlotNumber(slots.count - 1)
        }
        let number = firstFree
        firstFree = slots[Int(number)].next
        slots[Int(number)] = slot
        return number
    }
}
