package import GannetHTTP

/// Values that are made from bodies: once for all callers, and kept for later ones.
extension CachingFetch {
    /// The value of a request's answer. Callers that want the same value at the same time share the fetch and the making, and both end when
    /// the last of them leaves.
    package func value<Value: Sendable>(
        _ request: AnswerRequest, _ recipe: ValueRecipe<Value>, _ caller: Caller? = nil
    ) async -> Result<Value, FetchError> {
        let checked: CheckedRequest
        do throws(FetchError) {
            checked = try CheckedRequest(request, userAgent: parts.userAgent)
        } catch {
            return .failure(error)
        }
        let name = recipe.name
        if let made = kept(name, checked) { return .success(value(in: made)) }
        let outcome = await valueFetches.outcome(
            for: ValueFetchKey(fetch: checked.sharedFetchKey, name: name), caller ?? Caller(request.priority)
        ) { [self] work in await make(recipe, checked, work) }
        return own(outcome, url: request.url).map { value(in: $0) }
    }

    private func value<Value: Sendable>(in made: MadeValue) -> Value {
        guard let value = made.value(as: Value.self) else { preconditionFailure("The name of a value includes its type.") }
        return value
    }

    /// A value that may be used without its body.
    private func kept(_ name: ValueName, _ checked: CheckedRequest) -> MadeValue? {
        guard let (facts, made) = values.value(name, for: checked.key), mayUse(facts, checked, parts.now()) else { return nil }
        count { $0.valueHits += 1 }
        parts.observer?(.answered(RedactedURL(checked.request.url), from: .memory, bytes: Int(clamping: facts.byteCount), after: .zero))
        return made
    }

    private func make<Value: Sendable>(
        _ recipe: ValueRecipe<Value>, _ checked: CheckedRequest, _ work: SharedWork
    ) async -> Result<MadeValue, FetchError> {
        let mark = removals.mark
        let answer: ServedAnswer
        switch await serve(checked.request, Caller(work.priority, progress: work.progress.report)) {
        case .success(let served): answer = served
        case .failure(let error): return .failure(error)
        }
        // The origin may have confirmed a body whose value is there.
        if let facts = answer.facts, let (former, made) = values.value(recipe.name, for: checked.key), former.digest == facts.digest {
            count { $0.valueHits += 1 }
            return .success(made)
        }
        // Nothing is held meanwhile: a transform may ask for other values.
        let made = await Self.made(recipe, answer.body, checked.request.url)
        if case .success(let made) = made {
            count { $0.valuesMade += 1 }
            if let facts = answer.facts { keep(made, recipe.name, facts, checked.key, since: mark) }
        }
        return made
    }

    private static func made<Value: Sendable>(
        _ recipe: ValueRecipe<Value>, _ body: [UInt8], _ url: String
    ) async -> Result<MadeValue, FetchError> {
        do {
            let made = try await withTaskExecutorPreference(UserFunctions.threads) {
                let value = try await recipe.make(body)
                return MadeValue(value, cost: recipe.cost?(value) ?? body.count)
            }
            // A value that was made while nobody wanted it any more may be half of one.
            guard !Task.isCancelled else { return .failure(FetchError(kind: .cancelled, url: url)) }
            return .success(made)
        } catch let error as FetchError {
            return .failure(error)
        } catch {
            guard !Task.isCancelled else { return .failure(FetchError(kind: .cancelled, url: url)) }
            return .failure(FetchError(kind: .unexpectedContent, url: url, detail: "\(error)"))
        }
    }

    private func keep(_ made: MadeValue, _ name: ValueName, _ facts: StoredAnswer, _ key: CacheKey, since mark: Removals.Mark) {
        guard !removals.concern(key, since: mark) else { return }
        values.keep(made, name, of: facts, for: key)
        // A removal is noted before values are dropped: either this look finds the note, or the removal finds the value.
        if removals.concern(key, since: mark) { values.forget(key) }
    }
}
