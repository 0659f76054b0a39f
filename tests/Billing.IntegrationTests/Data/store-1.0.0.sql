SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA billing;
CREATE FUNCTION billing.append_events(streams character varying[], befores bigint[], afters bigint[], event_ids uuid[], event_streams character varying[], versions bigint[], types character varying[], dotnet_types character varying[], bodies text[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    opened bigint;
    moved bigint;
begin
    insert into billing.mt_streams (id, version, timestamp, created, tenant_id)
    select s.id, s.after, now(), now(), '*DEFAULT*'
    from unnest(streams, befores, afters) as s(id, before, after) where s.before = 0;
    get diagnostics opened = row_count;
    if opened < cardinality(streams) then
        update billing.mt_streams k set version = s.after, timestamp = now()
        from unnest(streams, befores, afters) as s(id, before, after)
        where k.id = s.id and k.version = s.before and s.before > 0 and not k.is_archived;
        get diagnostics moved = row_count;
        if opened + moved < cardinality(streams) then
            if exists (select from billing.mt_streams k where k.id = any(streams) and k.is_archived) then
                raise exception 'A stream is archived.' using errcode = '23B03';
            end if;
            raise exception 'A stream has moved on.' using errcode = '23B01';
        end if;
    end if;
    insert into billing.mt_events
        (seq_id, id, stream_id, version, data, type, timestamp, tenant_id, mt_dotnet_type, is_archived)
    select nextval('billing.mt_events_sequence'), e.id, e.stream_id, e.version, e.body::jsonb, e.type, now(),
        '*DEFAULT*',
        e.dotnet_type, false
    from unnest(event_ids, event_streams, versions, types, dotnet_types, bodies)
        as e(id, stream_id, version, type, dotnet_type, body);
end$$;
CREATE FUNCTION billing.begin_incarnation(elsewhere integer[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    -- The time, since the numbers that were given after the moment to which it was restored are not known here.
    begun bigint := extract(epoch from clock_timestamp())::bigint;
begin
    perform pg_advisory_xact_lock(1112099923);
    -- Of a shard whose move was interrupted, another database may hold the later number.
    update billing.shards set epoch = greatest(epoch + 1, begun)
    where is_held and (moving_to is null or not number = any(elsewhere));
    update billing.partition_epochs set epoch = greatest(epoch + 1, begun), owner = null;
end$$;
CREATE FUNCTION billing.mt_archive_stream(streamid character varying) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
  update billing.mt_streams set is_archived = TRUE where id = streamid ;
  update billing.mt_events set is_archived = TRUE where stream_id = streamid ;
END;
$$;
CREATE FUNCTION billing.mt_grams_array(words text, use_unaccent boolean DEFAULT false) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE STRICT
    AS $$
        DECLARE
result text[];
        DECLARE
word text;
        DECLARE
clean_word text;
BEGIN
                FOREACH
word IN ARRAY string_to_array(words, ' ')
                LOOP
                     clean_word = regexp_replace(billing.mt_safe_unaccent(use_unaccent, word), '[^a-zA-Z0-9]+', '','g');
FOR i IN 1 .. length(clean_word)
                     LOOP
                         result := result || quote_literal(substr(lower(clean_word), i, 1));
                         result
:= result || quote_literal(substr(lower(clean_word), i, 2));
                         result
:= result || quote_literal(substr(lower(clean_word), i, 3));
END LOOP;
END LOOP;
RETURN ARRAY(SELECT DISTINCT e FROM unnest(result) AS a(e) ORDER BY e);
END;
$$;
CREATE FUNCTION billing.mt_grams_query(text, use_unaccent boolean DEFAULT false) RETURNS tsquery
    LANGUAGE plpgsql IMMUTABLE STRICT
    AS $_$
BEGIN
RETURN (SELECT array_to_string(billing.mt_grams_array($1, use_unaccent), ' & ') ::tsquery);
END
$_$;
CREATE FUNCTION billing.mt_grams_vector(text, use_unaccent boolean DEFAULT false) RETURNS tsvector
    LANGUAGE plpgsql IMMUTABLE STRICT
    AS $_$
BEGIN
RETURN (SELECT array_to_string(billing.mt_grams_array($1, use_unaccent), ' ') ::tsvector);
END
$_$;
CREATE FUNCTION billing.mt_immutable_date(value text) RETURNS date
    LANGUAGE sql IMMUTABLE
    AS $$
select value::date
$$;
CREATE FUNCTION billing.mt_immutable_time(value text) RETURNS time without time zone
    LANGUAGE sql IMMUTABLE
    AS $$
select value::time
$$;
CREATE FUNCTION billing.mt_immutable_timestamp(value text) RETURNS timestamp without time zone
    LANGUAGE sql IMMUTABLE
    AS $$
select value::timestamp
$$;
CREATE FUNCTION billing.mt_immutable_timestamptz(value text) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE
    AS $$
select value::timestamptz
$$;
CREATE FUNCTION billing.mt_jsonb_append(jsonb, text[], jsonb, boolean, jsonb DEFAULT NULL::jsonb) RETURNS jsonb
    LANGUAGE plpgsql
    AS $_$
DECLARE
    retval ALIAS FOR $1;
    location ALIAS FOR $2;
    val ALIAS FOR $3;
    if_not_exists ALIAS FOR $4;
    patch_expression ALIAS FOR $5;
    tmp_value jsonb;
BEGIN
    tmp_value = retval #> location;
    IF tmp_value IS NOT NULL AND jsonb_typeof(tmp_value) = 'array' THEN
        CASE
            WHEN NOT if_not_exists THEN
                retval = jsonb_set(retval, location, tmp_value || val, FALSE);
            WHEN patch_expression IS NULL AND jsonb_typeof(val) = 'object' AND NOT tmp_value @> jsonb_build_array(val) THEN
                retval = jsonb_set(retval, location, tmp_value || val, FALSE);
            WHEN patch_expression IS NULL AND jsonb_typeof(val) <> 'object' AND NOT tmp_value @> val THEN
                retval = jsonb_set(retval, location, tmp_value || val, FALSE);
            WHEN patch_expression IS NOT NULL AND jsonb_typeof(patch_expression) = 'array' AND jsonb_array_length(patch_expression) = 0 THEN
                retval = jsonb_set(retval, location, tmp_value || val, FALSE);
            ELSE NULL;
            END CASE;
    END IF;
    RETURN retval;
END;
$_$;
CREATE FUNCTION billing.mt_jsonb_append_key_value(jsonb, text[], jsonb, boolean) RETURNS jsonb
    LANGUAGE plpgsql
    AS $_$
DECLARE
    retval ALIAS FOR $1;
    location ALIAS FOR $2;
    val ALIAS FOR $3;
    if_not_exists ALIAS FOR $4;
    tmp_value jsonb;
    _key text;
BEGIN
    tmp_value = retval #> location;
    IF tmp_value IS NOT NULL AND jsonb_typeof(tmp_value) = 'object' THEN
        CASE
            WHEN NOT if_not_exists THEN
                retval = jsonb_set(retval, location, tmp_value || val, FALSE);
            WHEN NOT tmp_value ?| ARRAY(SELECT jsonb_object_keys(val)) THEN
                retval = jsonb_set(retval, location, tmp_value || val, FALSE);
            ELSE NULL;
        END CASE;
    END IF;
    RETURN retval;
END;
$_$;
CREATE FUNCTION billing.mt_jsonb_copy(jsonb, text[], text[]) RETURNS jsonb
    LANGUAGE plpgsql
    AS $_$
DECLARE
    retval ALIAS FOR $1;
    src_path ALIAS FOR $2;
    dst_path ALIAS FOR $3;
    tmp_value jsonb;
BEGIN
    tmp_value = retval #> src_path;
    retval = billing.mt_jsonb_fix_null_parent(retval, dst_path);
    RETURN jsonb_set(retval, dst_path, tmp_value::jsonb, TRUE);
END;
$_$;
CREATE FUNCTION billing.mt_jsonb_duplicate(jsonb, text[], jsonb) RETURNS jsonb
    LANGUAGE plpgsql
    AS $_$
DECLARE
    retval ALIAS FOR $1;
    location ALIAS FOR $2;
    targets ALIAS FOR $3;
    tmp_value jsonb;
    target_path text[];
    target text;
BEGIN
    FOR target IN SELECT jsonb_array_elements_text(targets)
    LOOP
        target_path = billing.mt_jsonb_path_to_array(target, '\.');
        retval = billing.mt_jsonb_copy(retval, location, target_path);
    END LOOP;
    RETURN retval;
END;
$_$;
CREATE FUNCTION billing.mt_jsonb_fix_null_parent(jsonb, text[]) RETURNS jsonb
    LANGUAGE plpgsql
    AS $_$
DECLARE
retval ALIAS FOR $1;
    dst_path ALIAS FOR $2;
    dst_path_segment text[] = ARRAY[]::text[];
    dst_path_array_length integer;
    i integer = 1;
BEGIN
    dst_path_array_length = array_length(dst_path, 1);
    WHILE i <=(dst_path_array_length - 1)
    LOOP
        dst_path_segment = dst_path_segment || ARRAY[dst_path[i]];
        IF retval #> dst_path_segment IS NULL OR retval #> dst_path_segment = 'null'::jsonb THEN
            retval = jsonb_set(retval, dst_path_segment, '{}'::jsonb, TRUE);
        END IF;
        i = i + 1;
    END LOOP;
    RETURN retval;
END;
$_$;
CREATE FUNCTION billing.mt_jsonb_increment(jsonb, text[], numeric) RETURNS jsonb
    LANGUAGE plpgsql
    AS $_$
DECLARE
retval ALIAS FOR $1;
    location ALIAS FOR $2;
    increment_value ALIAS FOR $3;
    tmp_value jsonb;
BEGIN
    tmp_value = retval #> location;
    IF tmp_value IS NULL THEN
        tmp_value = to_jsonb(0);
END IF;
RETURN jsonb_set(retval, location, to_jsonb(tmp_value::numeric + increment_value), TRUE);
END;
$_$;
CREATE FUNCTION billing.mt_jsonb_insert(jsonb, text[], jsonb, integer, boolean, jsonb DEFAULT NULL::jsonb) RETURNS jsonb
    LANGUAGE plpgsql
    AS $_$
DECLARE
    retval ALIAS FOR $1;
    location ALIAS FOR $2;
    val ALIAS FOR $3;
    elm_index ALIAS FOR $4;
    if_not_exists ALIAS FOR $5;
    patch_expression ALIAS FOR $6;
    tmp_value jsonb;
BEGIN
    tmp_value = retval #> location;
    IF tmp_value IS NOT NULL AND jsonb_typeof(tmp_value) = 'array' THEN
        IF elm_index IS NULL THEN
            elm_index = jsonb_array_length(tmp_value) + 1;
        END IF;
        CASE
            WHEN NOT if_not_exists THEN
                retval = jsonb_insert(retval, location || elm_index::text, val);
            WHEN patch_expression IS NULL AND jsonb_typeof(val) = 'object' AND NOT tmp_value @> jsonb_build_array(val) THEN
                retval = jsonb_insert(retval, location || elm_index::text, val);
            WHEN patch_expression IS NULL AND jsonb_typeof(val) <> 'object' AND NOT tmp_value @> val THEN
                retval = jsonb_insert(retval, location || elm_index::text, val);
            WHEN patch_expression IS NOT NULL AND jsonb_typeof(patch_expression) = 'array' AND jsonb_array_length(patch_expression) = 0 THEN
                retval = jsonb_insert(retval, location || elm_index::text, val);
            ELSE NULL;
        END CASE;
    END IF;
    RETURN retval;
END;
$_$;
CREATE FUNCTION billing.mt_jsonb_move(jsonb, text[], text) RETURNS jsonb
    LANGUAGE plpgsql
    AS $_$
DECLARE
    retval ALIAS FOR $1;
    src_path ALIAS FOR $2;
    dst_name ALIAS FOR $3;
    dst_path text[];
    tmp_value jsonb;
BEGIN
    tmp_value = retval #> src_path;
    retval = retval #- src_path;
    dst_path = src_path;
    dst_path[array_length(dst_path, 1)] = dst_name;
    retval = billing.mt_jsonb_fix_null_parent(retval, dst_path);
    RETURN jsonb_set(retval, dst_path, tmp_value, TRUE);
END;
$_$;
CREATE FUNCTION billing.mt_jsonb_patch(jsonb, jsonb) RETURNS jsonb
    LANGUAGE plpgsql
    AS $_$
DECLARE
    retval ALIAS FOR $1;
    patchset ALIAS FOR $2;
    patch jsonb;
    patch_path text[];
    patch_expression jsonb;
    value jsonb;
BEGIN
    FOR patch IN SELECT * from jsonb_array_elements(patchset)
    LOOP
        patch_path = billing.mt_jsonb_path_to_array((patch->>'path')::text, '\.');
        patch_expression = null;
        IF (patch->>'type') IN ('remove', 'append_if_not_exists', 'insert_if_not_exists') AND (patch->>'expression') IS NOT NULL THEN
            patch_expression = jsonb_path_query_array(retval #> patch_path, (patch->>'expression')::jsonpath);
        END IF;
        CASE patch->>'type'
            WHEN 'set' THEN
                retval = jsonb_set(retval, patch_path, (patch->'value')::jsonb, TRUE);
            WHEN 'delete' THEN
                retval = retval#-patch_path;
            WHEN 'append' THEN
                retval = billing.mt_jsonb_append(retval, patch_path, (patch->'value')::jsonb, FALSE);
            WHEN 'append_if_not_exists' THEN
                retval = billing.mt_jsonb_append(retval, patch_path, (patch->'value')::jsonb, TRUE, patch_expression);
            WHEN 'append_key_value' THEN
                retval = billing.mt_jsonb_append_key_value(retval, patch_path, (patch->'key_value')::jsonb, FALSE);
            WHEN 'append_key_value_if_not_exists' THEN
                retval = billing.mt_jsonb_append_key_value(retval, patch_path, (patch->'key_value')::jsonb, TRUE);
            WHEN 'insert' THEN
                retval = billing.mt_jsonb_insert(retval, patch_path, (patch->'value')::jsonb, (patch->>'index')::integer, FALSE);
            WHEN 'insert_if_not_exists' THEN
                retval = billing.mt_jsonb_insert(retval, patch_path, (patch->'value')::jsonb, (patch->>'index')::integer, TRUE, patch_expression);
            WHEN 'remove' THEN
                retval = billing.mt_jsonb_remove(retval, patch_path, COALESCE(patch_expression, (patch->'value')::jsonb));
            WHEN 'remove_key' THEN
                retval = billing.mt_jsonb_remove_key(retval, patch_path, (patch->>'key'));
            WHEN 'duplicate' THEN
                retval = billing.mt_jsonb_duplicate(retval, patch_path, (patch->'targets')::jsonb);
            WHEN 'rename' THEN
                retval = billing.mt_jsonb_move(retval, patch_path, (patch->>'to')::text);
            WHEN 'increment' THEN
                retval = billing.mt_jsonb_increment(retval, patch_path, (patch->>'increment')::numeric);
            WHEN 'increment_float' THEN
                retval = billing.mt_jsonb_increment(retval, patch_path, (patch->>'increment')::numeric);
            ELSE NULL;
        END CASE;
    END LOOP;
    RETURN retval;
END;
$_$;
CREATE FUNCTION billing.mt_jsonb_path_to_array(text, character) RETURNS text[]
    LANGUAGE plpgsql
    AS $_$
DECLARE
    location ALIAS FOR $1;
    regex_pattern ALIAS FOR $2;
BEGIN
RETURN regexp_split_to_array(location, regex_pattern)::text[];
END;
$_$;
CREATE FUNCTION billing.mt_jsonb_remove(jsonb, text[], jsonb) RETURNS jsonb
    LANGUAGE plpgsql
    AS $_$
DECLARE
    retval ALIAS FOR $1;
    location ALIAS FOR $2;
    val ALIAS FOR $3;
    tmp_value jsonb;
    tmp_remove jsonb;
    patch_remove jsonb;
BEGIN
    tmp_value = retval #> location;
    IF tmp_value IS NOT NULL AND jsonb_typeof(tmp_value) = 'array' THEN
        IF jsonb_typeof(val) = 'array' THEN
            tmp_remove = val;
        ELSE
            tmp_remove = jsonb_build_array(val);
        END IF;
        FOR patch_remove IN SELECT * FROM jsonb_array_elements(tmp_remove)
        LOOP
            tmp_value =(SELECT jsonb_agg(elem)
            FROM jsonb_array_elements(tmp_value) AS elem
            WHERE elem <> patch_remove);
        END LOOP;
        IF tmp_value IS NULL THEN
            tmp_value = '[]'::jsonb;
        END IF;
    END IF;
    RETURN jsonb_set(retval, location, tmp_value, FALSE);
END;
$_$;
CREATE FUNCTION billing.mt_jsonb_remove_key(jsonb, text[], text) RETURNS jsonb
    LANGUAGE plpgsql
    AS $_$
DECLARE
    retval ALIAS FOR $1;
    location ALIAS FOR $2;
    _key ALIAS FOR $3;
    tmp_value jsonb;
    tmp_remove jsonb;
    patch_remove jsonb;
BEGIN
    tmp_value = retval #> location;
    IF tmp_value IS NOT NULL AND jsonb_typeof(tmp_value) = 'object' THEN
        RETURN jsonb_set(retval, location, tmp_value - _key, FALSE);
    END IF;
    RETURN retval;
END;
$_$;
CREATE FUNCTION billing.mt_mark_event_progression(name character varying, last_encountered bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
INSERT INTO billing.mt_event_progression (name, last_seq_id, last_updated)
VALUES (name, last_encountered, transaction_timestamp())
ON CONFLICT ON CONSTRAINT pk_mt_event_progression
    DO
UPDATE SET last_seq_id = last_encountered, last_updated = transaction_timestamp();
END;
$$;
CREATE FUNCTION billing.mt_mark_progression_with_skip(shard_name character varying, ending_sequence bigint, starting_sequence bigint) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    current_value bigint;
BEGIN
    select last_seq_id into current_value from billing.mt_event_progression where name = shard_name;
    IF current_value is null then
        -- Bootstrap the high-water row on first invocation. Previously this branch
        -- returned 0, which left HighWaterAgent.CheckNowAsync polling forever because
        -- statistics.CurrentMark never advanced. Issue #4425.
        INSERT INTO billing.mt_event_progression (name, last_seq_id, last_updated)
        VALUES (shard_name, ending_sequence, transaction_timestamp())
        ON CONFLICT ON CONSTRAINT pk_mt_event_progression
            DO UPDATE SET last_seq_id = ending_sequence, last_updated = transaction_timestamp();
        IF ending_sequence > starting_sequence THEN
            -- Idempotent: a rebuild/replay re-marks the same skip (ending_sequence is the
            -- PK). Re-recording an existing gap is a no-op. Conflict target is the PK
            -- constraint (the bare column name collides with the function parameter). #4530.
            insert into billing.mt_high_water_skips (ending_sequence, starting_sequence) values (ending_sequence, starting_sequence)
                on conflict on constraint pkey_mt_high_water_skips_ending_sequence do nothing;
        END IF;
        return ending_sequence;
    ELSIF current_value = starting_sequence THEN
        update billing.mt_event_progression SET last_seq_id = ending_sequence, last_updated = transaction_timestamp() where shard_name = name;
        insert into billing.mt_high_water_skips (ending_sequence, starting_sequence) values (ending_sequence, starting_sequence)
            on conflict on constraint pkey_mt_high_water_skips_ending_sequence do nothing;
        return ending_sequence;
    ELSE
        return current_value;
    END IF;
END
$$;
CREATE FUNCTION billing.mt_quick_append_events(stream character varying, stream_type character varying, tenantid character varying, event_ids uuid[], event_types character varying[], dotnet_types character varying[], bodies jsonb[], bdatas bytea[], expected_version bigint DEFAULT NULL::bigint) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE
	event_version bigint;
	stream_is_archived boolean;
	event_type varchar;
	event_id uuid;
	body jsonb;
	index int;
	seq bigint;
    actual_tenant varchar;
    is_new_stream boolean := false;
	return_value bigint[];
BEGIN
    if expected_version IS NOT NULL then
        -- COALESCE turns the NULL we get for a brand-new stream into 0, so a
        -- FetchForWriting against a non-existent stream (which sets
        -- ExpectedVersionOnServer = 0) and a StartStream(id, version: 0) both
        -- land on the new-stream branch instead of mis-firing the guard.
        select version, is_archived into event_version, stream_is_archived from billing.mt_streams where id = stream;
        if COALESCE(event_version, 0) != expected_version then
            RAISE EXCEPTION 'Stream version mismatch on ''%'': expected %, actual %', stream, expected_version, COALESCE(event_version, 0) USING ERRCODE = 'MT003';
        end if;
    else
        select version, is_archived into event_version, stream_is_archived from billing.mt_streams where id = stream;
    end if;
	if event_version IS NULL then
		event_version = 0;
		is_new_stream := true;
		-- #5456 follow-up: insert the FINAL version straight away rather than 0 plus a
		-- trailing UPDATE of the row we just wrote in this same transaction. That UPDATE
		-- is a second heap tuple + WAL record per stream creation for no observable gain
		-- -- nothing outside this transaction can see the intermediate 0. The trailing
		-- UPDATE below is skipped for this branch via is_new_stream.
		insert into billing.mt_streams (id, type, version, timestamp, tenant_id) values (stream, stream_type, COALESCE(array_length(event_ids, 1), 0), now(), tenantid);
    else
        if stream_is_archived then
            RAISE EXCEPTION 'Attempted to append event to archived stream with Id ''%''.', stream USING ERRCODE = 'MT001';
        end if;
        if tenantid IS NOT NULL then
            select tenant_id into actual_tenant from billing.mt_streams where id = stream;
            if actual_tenant != tenantid then
                RAISE EXCEPTION 'The tenantid does not match the existing stream';
            end if;
        end if;
	end if;
	index := 1;
	-- #5062: array_length('{}', 1) is NULL in PostgreSQL, not 0, so a call with an
	-- empty event array used to return ARRAY[NULL] -- a bigint[] whose only element
	-- is NULL, which Npgsql cannot read into long[] ('Cannot read a non-nullable
	-- collection of elements because the returned array contains nulls'). COALESCE
	-- makes the empty case mean what it says: zero events appended, so the final
	-- version is the stream's current version.
	return_value := ARRAY[event_version + COALESCE(array_length(event_ids, 1), 0)];
	foreach event_id in ARRAY event_ids
	loop
        seq := nextval('billing.mt_events_sequence');
		return_value := array_append(return_value, seq);
	    event_version := event_version + 1;
		event_type = event_types[index];
		body = bodies[index];
		-- #4515 / #4578 / Phase 2: bdatas[index] carries the binary payload
		-- for events opted in to binary serialization (NULL otherwise).
		-- bodies[index] is the {} JSON placeholder for those events so the
		-- existing data jsonb NOT NULL constraint stays intact.
		insert into billing.mt_events
			(seq_id, id, stream_id, version, data, bdata, type, tenant_id, timestamp, mt_dotnet_type, is_archived)
		values
			(seq, event_id, stream, event_version, body, bdatas[index], event_type, tenantid, (now() at time zone 'utc'), dotnet_types[index], FALSE);
		index := index + 1;
	end loop;
	-- A brand-new stream already carries its final version from the insert above, so the
	-- UPDATE is only needed when we appended onto a stream that already existed.
	--
	-- #5539: and only when we actually appended something. With ZERO events this was a BLIND write-back
	-- of the version read at the top of the function, and under READ COMMITTED that is a lost update: the
	-- UPDATE waits on a concurrent appender's row lock, the winner commits, the WHERE clause is
	-- re-evaluated against the new row, and `set version = <the stale value>` lands -- leaving
	-- mt_streams.version BELOW the stream's own events. Every later append then computes a version that
	-- already exists and dies on pk_mt_events_stream_and_version, forever, until the row is repaired by
	-- hand. A non-empty call cannot do this: its first INSERT collides with the winner on that same
	-- primary key and rolls the whole thing back, which is why only the empty case was exposed.
	--
	-- Two independent guards, because either alone would have been enough and the cost of both is nil:
	--   * the append count -- appending nothing has nothing to write, so the correct number of statements
	--     is zero rather than one that happens to be harmless;
	--   * greatest(), so the write-back can never LOWER a stream's version whoever calls it. An append
	--     only ever moves a version forward, so this is a no-op on every correct path and a backstop on
	--     any future caller that reads the version and then writes it back.
	if not is_new_stream and COALESCE(array_length(event_ids, 1), 0) > 0 then
		update billing.mt_streams set version = greatest(version, event_version), timestamp = now() where id = stream;
	end if;
	return return_value;
END
$$;
CREATE FUNCTION billing.mt_safe_unaccent(use_unaccent boolean, word text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT
    AS $$
BEGIN
IF use_unaccent THEN
    RETURN public.unaccent(word);
ELSE
    RETURN word;
END IF;
END;
$$;
CREATE FUNCTION billing.require_fence(shards integer[], shard_epochs bigint[], topics character varying[], numbers integer[], epochs bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    held bigint;
    elsewhere text;
begin
    perform pg_advisory_xact_lock_shared(1112099923);
    select count(*) into held from billing.shards h where h.number = any(shards)
        and h.is_held and h.moving_to is null
        and shard_epochs[array_position(shards, h.number)] in (0, h.epoch);
    if held < cardinality(shards) then
        select string_agg(s.number::text, ',') into elsewhere
            from unnest(shards, shard_epochs) as s(number, epoch)
        where not exists (select from billing.shards h
            where h.number = s.number and h.is_held and h.moving_to is null and s.epoch in (0, h.epoch));
        raise exception 'Not in this database: the shards %', elsewhere using errcode = '23B04';
    end if;
    if cardinality(topics) > 0 then
        perform from billing.partition_epochs p
            join unnest(topics, numbers, epochs) as o(topic, number, epoch)
            on p.topic = o.topic and p.number = o.number and p.epoch = o.epoch
        order by p.topic, p.number
        for share of p;
        get diagnostics held = row_count;
        if held < cardinality(topics) then
            raise exception 'A partition has a later owner.' using errcode = '23B02';
        end if;
    end if;
end$$;
CREATE FUNCTION billing.require_versions(streams character varying[], versions bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    if exists (select from unnest(streams, versions) as s(id, version) left
        join billing.mt_streams k on k.id = s.id
        where coalesce(k.version, 0) <> s.version)
    then
        raise exception 'A stream has moved on.' using errcode = '23B01';
    end if;
end$$;
CREATE FUNCTION billing.shard_of(stream character varying) RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$select get_byte(sha256(convert_to(stream, 'UTF8')), 0) & 63$$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE billing.mt_doc_deadletterevent (
    id uuid NOT NULL,
    data jsonb NOT NULL,
    mt_last_modified timestamp with time zone DEFAULT transaction_timestamp(),
    mt_version uuid DEFAULT (md5(((random())::text || (clock_timestamp())::text)))::uuid NOT NULL,
    mt_dotnet_type character varying
);
CREATE TABLE billing.mt_event_progression (
    name character varying NOT NULL,
    last_seq_id bigint,
    last_updated timestamp with time zone DEFAULT transaction_timestamp(),
    mode character varying DEFAULT 'none'::character varying,
    rebuild_threshold integer DEFAULT 0,
    assigned_node integer DEFAULT 0,
    heartbeat timestamp with time zone,
    agent_status character varying(20),
    pause_reason text,
    running_on_node integer,
    warning_behind_threshold bigint,
    critical_behind_threshold bigint,
    failure_category character varying(50),
    failure_event_sequence bigint,
    failure_event_type character varying(500),
    failure_event_tenant_id character varying(500)
);
CREATE TABLE billing.mt_event_projection_floors (
    name character varying NOT NULL,
    tenant_id character varying NOT NULL,
    floor bigint NOT NULL,
    last_updated timestamp with time zone DEFAULT transaction_timestamp()
);
CREATE TABLE billing.mt_events (
    seq_id bigint NOT NULL,
    id uuid NOT NULL,
    stream_id character varying,
    version bigint NOT NULL,
    data jsonb NOT NULL,
    bdata bytea,
    type character varying(500) NOT NULL,
    "timestamp" timestamp with time zone DEFAULT '2026-11-30 08:30:31.61647+00'::timestamp with time zone NOT NULL,
    tenant_id character varying DEFAULT '*DEFAULT*'::character varying,
    mt_dotnet_type character varying,
    is_archived boolean DEFAULT false
);
CREATE SEQUENCE billing.mt_events_sequence
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE billing.mt_events_sequence OWNED BY billing.mt_events.seq_id;
CREATE TABLE billing.mt_high_water_skips (
    ending_sequence bigint NOT NULL,
    starting_sequence bigint NOT NULL,
    "timestamp" timestamp with time zone DEFAULT transaction_timestamp()
);
CREATE TABLE billing.mt_streams (
    id character varying NOT NULL,
    type character varying,
    version bigint,
    "timestamp" timestamp with time zone DEFAULT now() NOT NULL,
    created timestamp with time zone DEFAULT now() NOT NULL,
    tenant_id character varying DEFAULT '*DEFAULT*'::character varying,
    compacted_version bigint DEFAULT 0 NOT NULL,
    is_archived boolean DEFAULT false
)
WITH (fillfactor='80');
CREATE TABLE billing.open_holds (
    stream_id character varying NOT NULL,
    payment_id uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    taken_at timestamp with time zone
);
CREATE TABLE billing.partition_epochs (
    topic character varying NOT NULL,
    number integer NOT NULL,
    epoch bigint NOT NULL,
    owner uuid
);
CREATE TABLE billing.shards (
    number integer NOT NULL,
    epoch bigint NOT NULL,
    is_held boolean NOT NULL,
    moving_to character varying
);
COMMENT ON TABLE billing.shards IS 'Seen to by b213e6b0b7c776fc434a25498b5dd62c, as af9b208f8df3a1f5dca56859efb739cb';
INSERT INTO billing.mt_events VALUES (1, '00000001-0000-0000-93ff-1bc2e95195f3', 'visa/recorded', 1, '{"By": {"Subject": "shop", "ClientId": "web"}, "Hash": "TDZw3z7KPo9lGxs5Stz8Y0KxrDmV2ZcGlWJC1QhTEcw=", "Notes": {"Metadata": {"shop": "Zürich"}, "Reference": "order 7"}, "Times": {"SentAt": "2026-01-31T12:00:00+00:00", "ConsumedAt": "2026-01-31T12:00:00.002+00:00", "ReceivedAt": "2026-01-31T12:00:00.001+00:00"}, "Amount": 20, "Balance": 20, "TraceId": "0123456789abcdef0123456789abcdef", "Currency": "USD", "DecidedAt": "2026-01-31T12:00:00+00:00", "TransactionId": "00000001-0000-0000-0000-000000000001"}', NULL, 'payment_accepted_v1', '2026-11-30 08:30:31.695892+00', '*DEFAULT*', 'Billing.Backends.Domain.PaymentAccepted, Billing.Backends', false);
INSERT INTO billing.mt_events VALUES (2, '00000002-0000-0000-a99f-19937cb49822', 'visa/recorded', 2, '{"By": {"Subject": "shop", "ClientId": "web"}, "Hash": "sJ9gcoRhIdKYugq0YPO4EGkufzsEYb/4YoDcLqx+470=", "Amount": 50000, "KeptIn": "USD", "Reason": 1, "Balance": 20, "Currency": "USD", "DecidedAt": "2026-01-31T12:00:01+00:00", "TransactionId": "00000002-0000-0000-0000-000000000001"}', NULL, 'payment_declined_v1', '2026-11-30 08:30:31.702965+00', '*DEFAULT*', 'Billing.Backends.Domain.PaymentDeclined, Billing.Backends', false);
INSERT INTO billing.mt_events VALUES (3, '00000003-0000-0000-bd01-7acc91c36730', 'visa/recorded', 3, '{"By": {"Subject": "shop", "ClientId": "web"}, "Hash": "BUNOe1AJcOLD0JmyD5I3/bBbXOvhblVR9DYadDwePrM=", "Limit": 500, "Balance": 20, "Currency": "USD", "DecidedAt": "2026-01-31T12:00:02+00:00", "TransactionId": "00000003-0000-0000-0000-000000000001"}', NULL, 'credit_limit_changed_v1', '2026-11-30 08:30:31.706396+00', '*DEFAULT*', 'Billing.Backends.Domain.CreditLimitChanged, Billing.Backends', false);
INSERT INTO billing.mt_events VALUES (4, '00000004-0000-0000-b42e-28a99c8059ff', 'visa/recorded', 4, '{"Hash": "Q2g2wV0FUllz5vgQ83RXjvTcv+0PjMk+I/ohfBlzt9s=", "Held": 0, "Notes": {"Metadata": {"shop": "Zürich"}, "Reference": "order 7"}, "Amount": 5, "Balance": 15, "Charged": 20, "Currency": "USD", "Refunded": 5, "DecidedAt": "2026-01-31T12:00:03+00:00", "PaymentId": "00000001-0000-0000-0000-000000000001", "TransactionId": "00000004-0000-0000-0000-000000000001"}', NULL, 'payment_refunded_v1', '2026-11-30 08:30:31.710215+00', '*DEFAULT*', 'Billing.Backends.Domain.PaymentRefunded, Billing.Backends', false);
INSERT INTO billing.mt_events VALUES (5, '00000005-0000-0000-a1ff-9f17430f2336', 'visa/recorded', 5, '{"Hash": "tJMOMOSH+20fMB3fZ1a5Ja/A4wVr1ynps6WiZ/W3X1g=", "Notes": {"Metadata": {"shop": "Zürich"}, "Reference": "order 7"}, "Amount": 100, "OnHold": 100, "Balance": 15, "Currency": "USD", "DecidedAt": "2026-01-31T12:00:04+00:00", "ExpiresAt": "2026-02-07T12:00:04+00:00", "TransactionId": "00000005-0000-0000-0000-000000000001"}', NULL, 'payment_authorised_v1', '2026-11-30 08:30:31.723503+00', '*DEFAULT*', 'Billing.Backends.Domain.PaymentAuthorised, Billing.Backends', false);
INSERT INTO billing.mt_events VALUES (6, '00000006-0000-0000-bbb9-1d834fdfffe3', 'visa/recorded', 6, '{"Hash": "CCY/pr29na3z32M0yvxzgLTXyrgDNFGuxYxp9YY3yjY=", "Amount": 10000, "KeptIn": "USD", "OnHold": 100, "Reason": 1, "Balance": 15, "Currency": "USD", "DecidedAt": "2026-01-31T12:00:05+00:00", "TransactionId": "00000006-0000-0000-0000-000000000001"}', NULL, 'authorisation_declined_v1', '2026-11-30 08:30:31.726612+00', '*DEFAULT*', 'Billing.Backends.Domain.AuthorisationDeclined, Billing.Backends', false);
INSERT INTO billing.mt_events VALUES (7, '00000007-0000-0000-a877-58cadd52579e', 'visa/recorded', 7, '{"Hash": "vLH/wVqw6XrdIrRDiqyTc/uVp1eXQ5+grN+TcKKeRnM=", "Held": 70, "Notes": {"Metadata": {"shop": "Zürich"}, "Reference": "order 7"}, "Amount": 30, "OnHold": 70, "Balance": 45, "Charged": 30, "Currency": "USD", "Refunded": 0, "Released": 0, "DecidedAt": "2026-01-31T12:00:06+00:00", "PaymentId": "00000005-0000-0000-0000-000000000001", "TransactionId": "00000007-0000-0000-0000-000000000001"}', NULL, 'payment_captured_v1', '2026-11-30 08:30:31.729978+00', '*DEFAULT*', 'Billing.Backends.Domain.PaymentCaptured, Billing.Backends', false);
INSERT INTO billing.mt_events VALUES (8, '00000008-0000-0000-857f-68b89b506378', 'visa/recorded', 8, '{"Hash": "GgrgVMj6mIYW3r8hg2KmUiooD3KLNIiAMhdug6tfZp4=", "Held": 0, "Balance": 45, "Charged": 30, "Currency": "USD", "Refunded": 0, "Released": 70, "DecidedAt": "2026-01-31T12:00:07+00:00", "PaymentId": "00000005-0000-0000-0000-000000000001", "TransactionId": "00000008-0000-0000-0000-000000000001"}', NULL, 'authorisation_voided_v1', '2026-11-30 08:30:31.733222+00', '*DEFAULT*', 'Billing.Backends.Domain.AuthorisationVoided, Billing.Backends', false);
INSERT INTO billing.mt_events VALUES (9, '00000009-0000-0000-82c3-bbf48f69ea68', 'visa/recorded', 9, '{"Hash": "4LNjbi/21AACt7wUGf6pSVdCrVwuKmrVSuHGqUSHSyk=", "Amount": 40, "OnHold": 40, "Balance": 45, "Currency": "USD", "DecidedAt": "2026-01-31T12:00:08+00:00", "ExpiresAt": "2026-01-31T12:00:09+00:00", "TransactionId": "00000009-0000-0000-0000-000000000001"}', NULL, 'payment_authorised_v1', '2026-11-30 08:30:31.737042+00', '*DEFAULT*', 'Billing.Backends.Domain.PaymentAuthorised, Billing.Backends', false);
INSERT INTO billing.mt_events VALUES (10, '0000000a-0000-0000-99c9-28997c9add0b', 'visa/recorded', 10, '{"Hash": "0U6ZBaMMjpWSkjdIyFnfVAHWVavOwIPmMgS+Hy7YcV8=", "Held": 0, "Balance": 45, "Charged": 0, "Currency": "USD", "Refunded": 0, "Released": 40, "DecidedAt": "2026-01-31T12:00:09+00:00", "PaymentId": "00000009-0000-0000-0000-000000000001", "TransactionId": "0000000a-0000-0000-0000-000000000001"}', NULL, 'authorisation_expired_v1', '2026-11-30 08:30:31.739771+00', '*DEFAULT*', 'Billing.Backends.Domain.AuthorisationExpired, Billing.Backends', false);
INSERT INTO billing.mt_events VALUES (11, '0000000b-0000-0000-b2b5-50fe39d398b8', 'visa/recorded', 11, '{"Hash": "NUfpEZxJKgb+Cf9ie8WoM4baZj6Pi+fAqorL5RRdjbw=", "Amount": 60, "OnHold": 60, "Balance": 45, "Currency": "USD", "DecidedAt": "2026-01-31T12:00:10+00:00", "ExpiresAt": "2026-03-03T12:00:10+00:00", "TransactionId": "0000000b-0000-0000-0000-000000000001"}', NULL, 'payment_authorised_v1', '2026-11-30 08:30:31.741692+00', '*DEFAULT*', 'Billing.Backends.Domain.PaymentAuthorised, Billing.Backends', false);
INSERT INTO billing.mt_events VALUES (12, '0000000c-0000-0000-b4df-6df86ffde0f9', 'visa/recorded', 12, '{"By": {"Subject": "shop", "ClientId": "web"}, "Hash": "gwqn+oEtaVi57l5TtnEzKMzmUDhc/6sGMbf14NHEnLY=", "Notes": {"Metadata": {"shop": "Zürich"}, "Reference": "order 7"}, "KeptIn": "USD", "OnHold": 60, "Status": 2, "Balance": 45, "DecidedAt": "2026-01-31T12:00:11+00:00", "TransactionId": "0000000c-0000-0000-0000-000000000001"}', NULL, 'account_status_changed_v1', '2026-11-30 08:30:31.745968+00', '*DEFAULT*', 'Billing.Backends.Domain.AccountStatusChanged, Billing.Backends', false);
INSERT INTO billing.mt_events VALUES (13, '0000000d-0000-0000-aea5-d0369ebcb069', 'mt_tombstone', -13, '{"By": "shop", "StreamId": "visa/recorded", "TransactionId": "0000000d-0000-0000-0000-000000000001"}', NULL, 'tombstone', '2026-11-30 08:30:31.753403+00', '*DEFAULT*', NULL, false);
INSERT INTO billing.mt_streams VALUES ('mt_tombstone', NULL, 0, '2026-11-30 08:30:31.575112+00', '2026-11-30 08:30:31.575112+00', '*DEFAULT*', 0, false);
INSERT INTO billing.mt_streams VALUES ('visa/recorded', NULL, 12, '2026-11-30 08:30:31.745968+00', '2026-11-30 08:30:31.695892+00', '*DEFAULT*', 0, false);
INSERT INTO billing.open_holds VALUES ('visa/recorded', '0000000b-0000-0000-0000-000000000001', '2026-03-03 12:00:10+00', NULL);
INSERT INTO billing.shards VALUES (0, 1, true, NULL);
INSERT INTO billing.shards VALUES (1, 1, true, NULL);
INSERT INTO billing.shards VALUES (2, 1, true, NULL);
INSERT INTO billing.shards VALUES (3, 1, true, NULL);
INSERT INTO billing.shards VALUES (4, 1, true, NULL);
INSERT INTO billing.shards VALUES (5, 1, true, NULL);
INSERT INTO billing.shards VALUES (6, 1, true, NULL);
INSERT INTO billing.shards VALUES (7, 1, true, NULL);
INSERT INTO billing.shards VALUES (8, 1, true, NULL);
INSERT INTO billing.shards VALUES (9, 1, true, NULL);
INSERT INTO billing.shards VALUES (10, 1, true, NULL);
INSERT INTO billing.shards VALUES (11, 1, true, NULL);
INSERT INTO billing.shards VALUES (12, 1, true, NULL);
INSERT INTO billing.shards VALUES (13, 1, true, NULL);
INSERT INTO billing.shards VALUES (14, 1, true, NULL);
INSERT INTO billing.shards VALUES (15, 1, true, NULL);
INSERT INTO billing.shards VALUES (16, 1, true, NULL);
INSERT INTO billing.shards VALUES (17, 1, true, NULL);
INSERT INTO billing.shards VALUES (18, 1, true, NULL);
INSERT INTO billing.shards VALUES (19, 1, true, NULL);
INSERT INTO billing.shards VALUES (20, 1, true, NULL);
INSERT INTO billing.shards VALUES (21, 1, true, NULL);
INSERT INTO billing.shards VALUES (22, 1, true, NULL);
INSERT INTO billing.shards VALUES (23, 1, true, NULL);
INSERT INTO billing.shards VALUES (24, 1, true, NULL);
INSERT INTO billing.shards VALUES (25, 1, true, NULL);
INSERT INTO billing.shards VALUES (26, 1, true, NULL);
INSERT INTO billing.shards VALUES (27, 1, true, NULL);
INSERT INTO billing.shards VALUES (28, 1, true, NULL);
INSERT INTO billing.shards VALUES (29, 1, true, NULL);
INSERT INTO billing.shards VALUES (30, 1, true, NULL);
INSERT INTO billing.shards VALUES (31, 1, true, NULL);
INSERT INTO billing.shards VALUES (32, 1, true, NULL);
INSERT INTO billing.shards VALUES (33, 1, true, NULL);
INSERT INTO billing.shards VALUES (34, 1, true, NULL);
INSERT INTO billing.shards VALUES (35, 1, true, NULL);
INSERT INTO billing.shards VALUES (36, 1, true, NULL);
INSERT INTO billing.shards VALUES (37, 1, true, NULL);
INSERT INTO billing.shards VALUES (38, 1, true, NULL);
INSERT INTO billing.shards VALUES (39, 1, true, NULL);
INSERT INTO billing.shards VALUES (40, 1, true, NULL);
INSERT INTO billing.shards VALUES (41, 1, true, NULL);
INSERT INTO billing.shards VALUES (42, 1, true, NULL);
INSERT INTO billing.shards VALUES (43, 1, true, NULL);
INSERT INTO billing.shards VALUES (44, 1, true, NULL);
INSERT INTO billing.shards VALUES (45, 1, true, NULL);
INSERT INTO billing.shards VALUES (46, 1, true, NULL);
INSERT INTO billing.shards VALUES (47, 1, true, NULL);
INSERT INTO billing.shards VALUES (48, 1, true, NULL);
INSERT INTO billing.shards VALUES (49, 1, true, NULL);
INSERT INTO billing.shards VALUES (50, 1, true, NULL);
INSERT INTO billing.shards VALUES (51, 1, true, NULL);
INSERT INTO billing.shards VALUES (52, 1, true, NULL);
INSERT INTO billing.shards VALUES (53, 1, true, NULL);
INSERT INTO billing.shards VALUES (54, 1, true, NULL);
INSERT INTO billing.shards VALUES (55, 1, true, NULL);
INSERT INTO billing.shards VALUES (56, 1, true, NULL);
INSERT INTO billing.shards VALUES (57, 1, true, NULL);
INSERT INTO billing.shards VALUES (58, 1, true, NULL);
INSERT INTO billing.shards VALUES (59, 1, true, NULL);
INSERT INTO billing.shards VALUES (60, 1, true, NULL);
INSERT INTO billing.shards VALUES (61, 1, true, NULL);
INSERT INTO billing.shards VALUES (62, 1, true, NULL);
INSERT INTO billing.shards VALUES (63, 1, true, NULL);
SELECT pg_catalog.setval('billing.mt_events_sequence', 13, true);
ALTER TABLE ONLY billing.mt_events
    ADD CONSTRAINT mt_events_command UNIQUE (id);
ALTER TABLE ONLY billing.open_holds
    ADD CONSTRAINT open_holds_expires_at_stream_id_payment_id_key UNIQUE (expires_at, stream_id, payment_id);
ALTER TABLE ONLY billing.open_holds
    ADD CONSTRAINT open_holds_pkey PRIMARY KEY (stream_id, payment_id);
ALTER TABLE ONLY billing.partition_epochs
    ADD CONSTRAINT partition_epochs_pkey PRIMARY KEY (topic, number);
ALTER TABLE ONLY billing.mt_event_progression
    ADD CONSTRAINT pk_mt_event_progression PRIMARY KEY (name);
ALTER TABLE ONLY billing.mt_doc_deadletterevent
    ADD CONSTRAINT pkey_mt_doc_deadletterevent_id PRIMARY KEY (id);
ALTER TABLE ONLY billing.mt_event_projection_floors
    ADD CONSTRAINT pkey_mt_event_projection_floors_name_tenant_id PRIMARY KEY (name, tenant_id);
ALTER TABLE ONLY billing.mt_events
    ADD CONSTRAINT pkey_mt_events_seq_id PRIMARY KEY (seq_id);
ALTER TABLE ONLY billing.mt_high_water_skips
    ADD CONSTRAINT pkey_mt_high_water_skips_ending_sequence PRIMARY KEY (ending_sequence);
ALTER TABLE ONLY billing.mt_streams
    ADD CONSTRAINT pkey_mt_streams_id PRIMARY KEY (id);
ALTER TABLE ONLY billing.shards
    ADD CONSTRAINT shards_pkey PRIMARY KEY (number);
CREATE INDEX mt_events_credit_limit_changed_v1 ON billing.mt_events USING btree (stream_id, version) WHERE ((type)::text = 'credit_limit_changed_v1'::text);
CREATE INDEX mt_events_follow_ups ON billing.mt_events USING btree (stream_id, ((data ->> 'PaymentId'::text)), version) WHERE ((data ->> 'PaymentId'::text) IS NOT NULL);
CREATE INDEX mt_events_timestamp ON billing.mt_events USING btree ("timestamp");
CREATE UNIQUE INDEX pk_mt_events_stream_and_version ON billing.mt_events USING btree (stream_id, version);
ALTER TABLE ONLY billing.mt_events
    ADD CONSTRAINT fkey_mt_events_stream_id FOREIGN KEY (stream_id) REFERENCES billing.mt_streams(id) ON DELETE CASCADE;
